import { readFileSync } from 'node:fs'
import { html, PageScript } from '../../../http/page.ts'

const script = new PageScript(readFileSync(new URL('./session-page-script.js', import.meta.url), 'utf8'))

/**
 * Renders the page `/session`, where signing in ends. It is the same for everyone: its script gets tokens with the
 * session cookie, which pages of the same site may send, and fills the page in.
 */
export function sessionPage() {
  const body = html`<h1>Your session</h1>
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
<p id="status" role="status">Looking for your session …</p>
<div id="signed-in" hidden>
<dl>
<dt>Signed in as</dt><dd id="who"></dd>
<dt>User id</dt><dd id="user-id"></dd>
<dt>Tenant</dt><dd id="tenant"></dd>
<dt>Role</dt><dd id="role"></dd>
<dt>Scopes</dt><dd id="scopes"></dd>
<dt>Session lasts until</dt><dd id="session-until"></dd>
<dt>Access token is valid until</dt><dd id="token-until"></dd>
</dl>
<div class="buttons">
<button id="refresh" type="button">Refresh token</button>
<button id="sign-out" type="button" class="plain">Sign out</button>
<button id="sign-out-everywhere" type="button" class="plain">Sign out everywhere</button>
</div>
<p class="soft">Only this page holds the tokens. Closing it discards them.</p>
</div>
<p id="signed-out" hidden><a id="sign-in" href="/sign-in">Sign in</a></p>
<p class="soft"><a href="/reference">API reference</a></p>`
  return { title: 'Your session', body, script }
}
