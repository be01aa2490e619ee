import { sessionHours } from '../../../../contract/limits.ts'
import { type Scope, scopes as scopeTexts } from '../../../../contract/scopes.ts'
import { type Html, html, type Page } from '../../../http/page.ts'
import type { LiveSession } from '../sessions/sessions-types.ts'
import { type AuthorizationRequest, parameterNames } from './authorization-request.ts'
import { hostOf, isLoopback } from './redirect-uris.ts'

export const consentPath = '/api/v1/oauth/consent'

/** Scopes that the page selects beforehand: those of the tools that only read. Writing needs a click. */
const usual: readonly Scope[] = ['hub:read', 'telemetry:read', 'skill_entitlement:read']

/**
 * Renders the page on which a person decides about a client. The client chose its name, so the page shows the host that
 * gets the access beside it.
 */
export function consentPage(
  asked: AuthorizationRequest,
  { tenant, user, sessionId }: LiveSession,
  offered: readonly Scope[],
  notice?: string,
): Page {
  const { client, redirectUri, parameters } = asked
  const hidden = parameterNames.flatMap((name) => {
    const value = parameters[name]
    return value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">\n`]
  })
  const body = html`<h1>Connect ${client.name}?</h1>
${notice === undefined ? html`` : html`<p class="notice" role="alert">${notice}</p>`}
<p>The program <strong>${client.name}</strong> asks for access to <strong>${tenant.slug}</strong> in your name.</p>
<dl>
<dt>Access goes to</dt><dd><strong>${hostOf(redirectUri)}</strong>${isLoopback(redirectUri) ? ' (a program on this computer)' : ''}</dd>
<dt>Tenant</dt><dd>${tenant.slug}</dd>
<dt>Signed in as</dt><dd>${user.email}, ${user.role}</dd>
</dl>
<p class="notice">The Hub has not verified the name. Connect only a program that you started just now.</p>
<form method="post" action="${consentPath}">
${hidden}<input type="hidden" name="session" value="${sessionId}">
${choices(offered, client.name)}
<div class="buttons">
${offered.length === 0 ? html`` : html`<button name="decision" value="approve">Connect</button>`}
<button name="decision" value="deny" class="plain">Cancel</button>
</div>
</form>
<p class="soft">The Hub records its actions under your name. The access ends after ${sessionHours} hours, or when you
end it in your settings.</p>`
  // The answer to the form is a redirect to the client.
  return {
    title: `Connect ${client.name}?`,
    body,
    layout: 'card',
    noStore: true,
    hasForm: true,
    formLeadsTo: redirectUri,
  }
}

function choices(offered: readonly Scope[], name: string): Html {
  if (offered.length === 0) {
    return html`<p>Your role has none of the permissions that ${name} asks for. Press Cancel, and ask an administrator for
another role.</p>`
  }
  const boxes = offered.map(
    (scope) =>
      html`<label class="choice"><input type="checkbox" name="scopes" value="${scope}"${
        usual.includes(scope) ? html` checked` : html``
      }><span>${scopeTexts[scope]} <code>${scope}</code></span></label>\n`,
  )
  return html`<fieldset>
<legend>Permissions</legend>
${boxes}</fieldset>`
}

/**
 * Renders the page for a request that another site started. Its link makes the browser send the session cookie, which
 * it withholds from requests by other sites.
 */
export function continuePage({ client, redirectUri }: AuthorizationRequest, path: string): Page {
  const body = html`<h1>Connect ${client.name}?</h1>
<p>Another site asks you to give the program <strong>${client.name}</strong> at
<strong>${hostOf(redirectUri)}</strong> access to the Org-Memory Hub.</p>
<p><a id="go-on" href="${path}">Continue</a></p>
<p class="soft">If you did not start this, close the page: nothing has happened yet.</p>`
  return { title: `Connect ${client.name}?`, body, layout: 'card', noStore: true }
}
