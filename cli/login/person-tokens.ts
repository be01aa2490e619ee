import { HubConnectionError } from '../../sdk/typescript/src/index.ts'
import { refresh } from './authorization-server.ts'
import { NotSignedInError } from './login-errors.ts'
import type { LoginFile, PersonLogin } from './login-file.ts'

/**
 * Returns a function for the SDK that gives the access token of the stored login, renewed before it expires. Only one
 * process renews at a time, and the others take its result: the Hub ends a login whose refresh token is used twice.
 *
 * @param expected the login that the command began with; another one is never used in its place
 */
export function personTokens(file: LoginFile, expected: PersonLogin): (refused?: string) => Promise<string> {
  let login = expected
  const isGood = ({ access_token, renew_after_ms }: PersonLogin, refused: string | undefined) =>
    access_token !== refused && Date.now() < renew_after_ms

  return async (refused) => {
    if (isGood(login, refused)) return login.access_token
    try {
      login = await file.exclusively(async () => {
        const stored = await file.read()
        if (stored?.kind !== 'person' || stored.client_id !== expected.client_id) {
          throw new NotSignedInError('The login was replaced or ended meanwhile.')
        }
        if (isGood(stored, refused)) return stored
        const renewed = { ...stored, ...(await refresh(stored)) }
        await file.write(renewed)
        return renewed
      })
    } catch (error) {
      // The token is renewed early, so it may outlive a short interruption.
      const isUsable = login.access_token !== refused && Date.now() < login.expires_at_ms
      if (!(error instanceof HubConnectionError) || !isUsable) throw error
    }
    return login.access_token
  }
}
