import { html, type Page } from '../../http/page.ts'

/** Renders the page shown while the web UI is not built. `reason` is for readers who may see the service's log. */
export function unbuiltPage(reason: string | undefined): Page {
  const why =
    reason === undefined
      ? html`<p>It is built when the Hub is installed or started, and that failed; the Hub's log states the reason.</p>`
      : html`<p>It is built when the Hub is installed or started, and that failed:</p><pre tabindex="0">${reason}</pre>`
  const body = html`<h1>The web UI is not built</h1>
${why}
<p>To build it, run this command in the Hub's folder. A restart is not required:</p>
<pre tabindex="0">npm run build</pre>
<p>Everything else works: the <a href="/reference">API</a>, <a href="/sign-in">signing in</a> and
<a href="/session">your session</a>.</p>`
  return { title: 'The web UI is not built', body, status: 503, noStore: true }
}
