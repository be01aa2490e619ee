import { spawn } from 'node:child_process'
import { decodeJwt } from 'jose'
import * as oauth from 'openid-client'
import { redeem, registerAt } from './authorization-server.ts'
import type { PersonLogin } from './login-file.ts'
import { listenForResponse } from './loopback-listener.ts'

/**
 * Lets a person authorize this program in a browser: authorization code with PKCE S256, and a redirect to this machine.
 *
 * @param show receives the address to open
 */
export async function logInPerson(
  hubUrl: string,
  options: { scope: string; port: number; opensBrowser: boolean; show: (address: string) => void },
): Promise<PersonLogin> {
  const listener = await listenForResponse(options.port)
  try {
    const server = await registerAt(hubUrl, listener.redirectUri)
    const verifier = oauth.randomPKCECodeVerifier()
    const state = oauth.randomState()
    const address = oauth.buildAuthorizationUrl(server, {
      redirect_uri: listener.redirectUri,
      scope: options.scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const response = listener.response(state)
    options.show(address.href)
    if (options.opensBrowser) openBrowser(address.href)
    const tokens = await redeem(server, await response, { pkceCodeVerifier: verifier, expectedState: state })
    // The tenant is the one of the session that the person chose in the browser. The Hub checks the token at each call.
    const { tenant } = decodeJwt<{ tenant?: string }>(tokens.access_token)
    if (typeof tenant !== 'string') throw new TypeError('the access token names no tenant')
    const { client_id } = server.clientMetadata()
    return { kind: 'person', version: 1, hub_url: hubUrl, tenant, client_id, ...tokens }
  } finally {
    listener.close()
  }
}

/** Opens the browser of the person if there is one. The address is printed in any case. */
function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open']
  const child = spawn(command as string, [...args, address], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
