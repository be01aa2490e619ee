import { html } from '../../../http/page.ts'

/** Renders the page that asks for confirmation of a login that another site started. */
export function loginConfirmationPage(tenant: string, login: string) {
  const body = html`<h1>Sign in to ${tenant}?</h1>
<p>Another site has sent you here, to sign in to the Org-Memory Hub of <strong>${tenant}</strong>. Go on if you want to
work there; what you enter then is kept for that organisation.</p>
<p><a id="go-on" href="${login}">Sign in to ${tenant}</a></p>
<p class="soft">If you do not know ${tenant}, close this page: nothing has happened yet.</p>`
  return { title: `Sign in to ${tenant}?`, body, noStore: true }
}
