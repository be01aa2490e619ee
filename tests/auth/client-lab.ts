import { hash, randomBytes } from 'node:crypto'
import { type Answer, read } from './auth-hub.ts'
import type { Browser, SignedInPerson } from './people.ts'

/** An OAuth client and the browser of a person, by plain HTTP. */

export const callback = 'http://127.0.0.1:4567/callback'

export interface Pkce {
  verifier: string
  challenge: string
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: hash('sha256', verifier, 'base64url') }
}

export async function register(url: string, metadata: object = {}): Promise<Answer> {
  return read(
    await fetch(`${url}/api/v1/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Agent One', redirect_uris: [callback], ...metadata }),
    }),
  )
}

export async function newClient(url: string, metadata: object = {}): Promise<string> {
  return (await register(url, metadata)).body.client_id
}

type Fields = Record<string, string | undefined>

/** The parameters of an authorization request; undefined leaves one out. */
export function requestOf(clientId: string, { challenge }: Pkce, changes: Fields = {}): Record<string, string> {
  return defined({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    state: 'state-1',
    scope: 'hub:read hub:write telemetry:read',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  })
}

export function authorize(browser: Browser, parameters: Record<string, string>, headers = {}): Promise<Answer> {
  return browser.call('GET', `/api/v1/oauth/authorize?${new URLSearchParams(parameters)}`, {
    headers: { accept: 'text/html', 'sec-fetch-site': 'none', ...headers },
  })
}

/** Sends the form of the consent page. */
export async function decide(
  { browser, session }: Pick<SignedInPerson, 'browser' | 'session'>,
  parameters: Record<string, string>,
  {
    scopes = ['hub:read'],
    decision = 'approve',
    headers = {},
    ...changes
  }: { scopes?: string[]; decision?: string; headers?: Record<string, string> } & { session?: string } = {},
): Promise<Answer> {
  const form = new URLSearchParams({ ...parameters, session: session.sessionId, decision, ...changes })
  for (const scope of scopes) form.append('scopes', scope)
  const url = `${browser.url}/api/v1/oauth/consent`
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'text/html',
      cookie: browser.jar.getCookieStringSync(url),
      origin: browser.url,
      'sec-fetch-site': 'same-origin',
      ...headers,
    },
    body: form,
    redirect: 'manual',
  })
  return read(response)
}

/** The parameters that an answer sends the browser to the client with. */
export function responseOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(new URL(headers.get('location') ?? 'about:blank').searchParams)
}

/** A code that the person granted. */
export async function codeFor(
  person: Pick<SignedInPerson, 'browser' | 'session'>,
  parameters: Record<string, string>,
  scopes?: string[],
): Promise<string> {
  const { code } = responseOf(await decide(person, parameters, scopes && { scopes }))
  if (code === undefined) throw new Error('no code')
  return code
}

export async function tokenRequest(url: string, fields: Fields, headers: Record<string, string> = {}): Promise<Answer> {
  const body = new URLSearchParams(defined(fields))
  return read(
    await fetch(`${url}/api/v1/oauth/token`, {
      method: 'POST',
      headers: { accept: 'application/json', ...headers },
      body,
    }),
  )
}

export function redeem(url: string, clientId: string, code: string, pkce: Pkce, changes: Fields = {}): Promise<Answer> {
  return tokenRequest(url, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: callback,
    code_verifier: pkce.verifier,
    ...changes,
  })
}

export function refresh(url: string, clientId: string, refreshToken: string, changes: Fields = {}): Promise<Answer> {
  return tokenRequest(url, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    ...changes,
  })
}

/** A client that a person has connected, with its first tokens. */
export async function connect(
  person: Pick<SignedInPerson, 'browser' | 'session'>,
  scopes?: string[],
): Promise<{ clientId: string; token: string; refreshToken: string; sessionId: string }> {
  const { url } = person.browser
  const clientId = await newClient(url)
  const pkce = newPkce()
  const request = requestOf(clientId, pkce, { scope: undefined })
  const { body } = await redeem(url, clientId, await codeFor(person, request, scopes), pkce)
  const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
  return { clientId, token: body.access_token, refreshToken: body.refresh_token, sessionId: claims.sid }
}

function defined(fields: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((each): each is [string, string] => each[1] !== undefined))
}
