import * as oauth from 'openid-client'
import { refreshGraceSeconds } from '../../contract/limits.ts'
import { HubConnectionError } from '../../sdk/typescript/src/index.ts'
import { StartupError } from '../../server/startup-error.ts'
import { LoginEndedError, NotSignedInError, RenewalRejectedError } from './login-errors.ts'
import type { PersonLogin } from './login-file.ts'

/** Seconds until a request to the authorization server fails. */
const timeoutSeconds = 30
/**
 * Seconds until a renewal fails. A retry with the same refresh token must begin within the grace of the Hub, because a
 * later one ends the login.
 */
export const renewalTimeoutSeconds = refreshGraceSeconds / 2
/** Seconds before its end at which an access token is renewed. */
const marginSeconds = 60

type Tokens = Pick<PersonLogin, 'access_token' | 'renew_after_ms' | 'expires_at_ms' | 'refresh_token'>

/**
 * Discovers the authorization server of a Hub and registers this program there as a public client (RFC 7591).
 *
 * @throws HubConnectionError if the Hub cannot be reached, StartupError if the address is not one of a Hub
 */
export async function registerAt(hubUrl: string, redirectUri: string): Promise<oauth.Configuration> {
  const metadata = {
    client_name: 'hub (command line)',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
  }
  try {
    return await oauth.dynamicClientRegistration(new URL(hubUrl), metadata, oauth.None(), {
      algorithm: 'oauth2',
      timeout: timeoutSeconds,
      execute: loopbackHttp(hubUrl),
    })
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(error)
    throw new StartupError(
      `${hubUrl} does not offer a sign-in for programs (${reasonOf(error)}).`,
      'Give the address of the Hub exactly as browsers use it, such as https://hub.example.com.',
      { cause: error },
    )
  }
}

/** Redeems the code of a response to the redirect URI. Throws NotSignedInError if it is not valid. */
export async function redeem(
  server: oauth.Configuration,
  response: URL,
  checks: { pkceCodeVerifier: string; expectedState: string },
): Promise<Tokens> {
  try {
    return tokensIn(await oauth.authorizationCodeGrant(server, response, checks))
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(error)
    const isDenied = error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied'
    const message = isDenied ? 'The sign-in was cancelled in the browser.' : `The sign-in failed: ${reasonOf(error)}.`
    throw new NotSignedInError(message, 'Run: hub login', { cause: error })
  }
}

/**
 * Returns the next tokens of a login.
 *
 * @throws LoginEndedError if the Hub says so, RenewalRejectedError for other refusals, HubConnectionError if the Hub cannot be reached
 */
export async function refresh(login: PersonLogin): Promise<Tokens> {
  const server = new oauth.Configuration(
    { issuer: login.hub_url, token_endpoint: `${login.hub_url}/api/v1/oauth/token` },
    login.client_id,
    undefined,
    oauth.None(),
  )
  server.timeout = renewalTimeoutSeconds
  for (const allow of loopbackHttp(login.hub_url)) allow(server)
  try {
    return tokensIn(await oauth.refreshTokenGrant(server, login.refresh_token))
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(error)
    const fix = 'Run: hub login'
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') {
      throw new LoginEndedError(`The login has ended: ${reasonOf(error)}.`, fix, { cause: error })
    }
    throw new RenewalRejectedError(`The login cannot be renewed: ${reasonOf(error)}.`, fix, { cause: error })
  }
}

/** Allows http to this machine; the caller has refused any other http address. */
function loopbackHttp(hubUrl: string) {
  return hubUrl.startsWith('http:') ? [oauth.allowInsecureRequests] : []
}

function tokensIn(answer: oauth.TokenEndpointResponse): Tokens {
  const { access_token, refresh_token, expires_in: seconds = 0 } = answer
  if (refresh_token === undefined) throw new TypeError('the Hub issued no refresh token')
  const goodSeconds = Math.max(seconds - marginSeconds, seconds / 2)
  const now = Date.now()
  return {
    access_token,
    refresh_token,
    renew_after_ms: now + goodSeconds * 1000,
    expires_at_ms: now + seconds * 1000,
  }
}

/** Returns true for failures that say nothing about the login: no connection, no answer in time, limits, faults. */
function isUnreachable(error: unknown): boolean {
  const isLater = (status: number) => status === 429 || status >= 500
  if (error instanceof oauth.ResponseBodyError) return isLater(error.status)
  if (error instanceof oauth.ClientError) return error.code === 'OAUTH_TIMEOUT' || isLater(statusIn(error))
  return error instanceof TypeError && error.message === 'fetch failed'
}

function statusIn({ cause }: Error): number {
  return cause instanceof Response ? cause.status : 0
}

function unreachable(error: unknown): HubConnectionError {
  return new HubConnectionError(`Cannot reach the Hub: ${reasonOf(error)}`, { cause: error })
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    return (error.error_description ?? error.error).replace(/\.$/, '')
  }
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
