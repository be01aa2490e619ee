import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { clearCookie, readCookie, setLoginCookie, setSessionCookie } from '../../../http/cookies.ts'
import { html, sendPage } from '../../../http/page.ts'
import { addRoute } from '../../../http/route.ts'
import type { LoginVisitor, OidcLogin } from './oidc-login-service.ts'
import { AskFirstPage, CallbackQuery, LoginQuery, redirectHeaders } from './oidc-schemas.ts'

/** Title and link of error pages. */
const notSignedIn = { title: 'You are not signed in', next: { path: '/sign-in', text: 'Sign in' } }

export function addOidcRoutes(app: FastifyInstance, login: OidcLogin): void {
  addRoute(
    app,
    'startLogin',
    {
      description:
        'Redirects the browser to the identity provider of the tenant (OpenID Connect, authorization code with ' +
        'PKCE). A cookie holds the state of the login; it is valid once, for ten minutes.',
      querystring: LoginQuery,
      response: { 200: AskFirstPage, 302: Type.Null() },
      responseHeaders: { 302: redirectHeaders },
      problems: ['invalid-tenant'],
      htmlErrors: notSignedIn,
    },
    async (request, reply) => {
      await request.credentialCharges.attempt()
      const { tenant, return_to: returnTo } = request.query
      const { location, cookie, ...begun } = await login.begin({ tenant, returnTo }, visitorOf(request))
      if (cookie !== undefined) {
        // Without this page, any site could sign its visitors in to a tenant of its own, where they would take what
        // they write for stored by their company: with a session at the same provider nothing asks them. A company's
        // portal is another site too, so starting there costs a click. If no cookie is set, the address it leads to
        // shows the page.
        if (request.headers['sec-fetch-site'] === 'cross-site') {
          return sendPage(loginConfirmationPage(begun.tenant, begun.path), reply)
        }
        setLoginCookie(reply, cookie)
      }
      return reply.redirect(location, 302)
    },
  )

  addRoute(
    app,
    'completeLogin',
    {
      description:
        'The identity provider redirects the browser here. Creates the session, whose cookie is valid for eight ' +
        'hours, and redirects to the requested page.',
      querystring: CallbackQuery,
      response: { 303: Type.Null() },
      responseHeaders: { 303: redirectHeaders },
      problems: ['authentication-failed', 'hub-unavailable'],
      htmlErrors: notSignedIn,
    },
    async (request, reply) => {
      const sealed = readCookie(request, reply, 'login')
      // The login is over, regardless of the result.
      clearCookie(reply, 'login')
      const callback = new URL(request.url, 'http://callback.invalid')
      const proven = request.credentialCharges.succeed
      const { session, location } = await login.finish(sealed, callback, visitorOf(request), proven)
      setSessionCookie(reply, session)
      return reply.redirect(location, 303)
    },
  )
}

function visitorOf(request: FastifyRequest): LoginVisitor {
  return {
    address: request.callerAddress,
    requestId: request.id,
    userAgent: request.headers['user-agent'],
    hostname: request.hostname,
    hostTenant: request.hostTenant?.slug,
  }
}

/** Renders the page that asks for confirmation of a login that another site started. */
function loginConfirmationPage(tenant: string, login: string) {
  const body = html`<h1>Sign in to ${tenant}?</h1>
<p>Another site has sent you here, to sign in to the Org-Memory Hub of <strong>${tenant}</strong>. Go on if you want to
work there; what you enter then is kept for that organisation.</p>
<p><a id="go-on" href="${login}">Sign in to ${tenant}</a></p>
<p class="soft">If you do not know ${tenant}, close this page: nothing has happened yet.</p>`
  return { title: `Sign in to ${tenant}?`, body, noStore: true }
}
