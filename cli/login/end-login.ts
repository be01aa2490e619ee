import { HubClient, HubConnectionError } from '../../sdk/typescript/src/index.ts'
import { refresh } from './authorization-server.ts'
import { LoginEndedError, RenewalRejectedError } from './login-errors.ts'
import type { PersonLogin } from './login-file.ts'

const timeoutMs = 30_000

/**
 * Ends the login of a person at the Hub.
 *
 * @param accessToken gives the access token; defaults to that of the login, renewed without storing the result
 * @returns true if the Hub confirmed the end; false for any other response, such as that of a proxy, which says nothing
 *   about the login
 * @throws HubConnectionError if the Hub cannot be reached, or cannot answer now
 */
export async function endLogin(login: PersonLogin, accessToken = tokensOf(login)): Promise<boolean> {
  const hub = new HubClient({ baseUrl: login.hub_url, tenant: login.tenant, accessToken })
  try {
    const { status } = await hub.fetch(`${login.hub_url}/api/v1/auth/logout`, {
      method: 'POST',
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (status === 429 || status >= 500) throw new HubConnectionError(`The Hub answered with status ${status}.`)
    return status === 204
  } catch (error) {
    if (error instanceof LoginEndedError) return true
    if (error instanceof RenewalRejectedError) return false
    const isNetwork = error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')
    if (!isNetwork) throw error
    throw new HubConnectionError(`Cannot reach the Hub: ${error.message}`, { cause: error })
  }
}

/** Returns the tokens of a login that the file no longer has. */
function tokensOf(login: PersonLogin): (refused?: string) => Promise<string> {
  return async (refused) => {
    const isGood = login.access_token !== refused && Date.now() < login.renew_after_ms
    return isGood ? login.access_token : (await refresh(login)).access_token
  }
}
