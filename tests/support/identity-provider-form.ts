import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type Provider from 'oidc-provider'

/** The one page of the identity provider: asks who is there, and grants what the client asked for. */
export async function answerSignInForm(
  provider: Provider,
  accounts: ReadonlyMap<string, unknown>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') return sendForm(response, 200)
  const form = new URLSearchParams(await text(request))
  if (form.has('cancel')) {
    const error = { error: 'access_denied', error_description: 'The person cancelled.' }
    return provider.interactionFinished(request, response, error, { mergeWithLastSubmission: false })
  }
  const sub = form.get('sub') ?? ''
  if (!accounts.has(sub)) return sendForm(response, 403)
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: sub, clientId: String(params.client_id) })
  grant.addOIDCScope(String(params.scope))
  const result = { login: { accountId: sub }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

function sendForm(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>
<html lang="en"><title>Identity provider</title>
<h1>Sign in</h1>
<form method="post">
<label for="sub">Account</label> <input id="sub" name="sub" autofocus>
<button id="sign-in">Sign in</button>
<button id="cancel" name="cancel" value="yes">Cancel</button>
</form></html>`)
}
