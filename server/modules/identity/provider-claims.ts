import type { IDToken, UserInfoResponse } from 'openid-client'
import { DomainError } from '../../../contract/domain-error.ts'
import type { ProviderClaims } from './identity-types.ts'

const nameLengthMax = 200
/** Maximum length of `sub` (OpenID Connect Core 1.0, section 2). */
const subjectLengthMax = 255

/** Reads the claims from the verified ID token, or from userinfo if the token has no address. */
export function readClaims(connectionId: string, idToken: IDToken, info: UserInfoResponse | undefined): ProviderClaims {
  const { sub } = idToken
  if (sub.length === 0 || sub.length > subjectLengthMax || /\p{Cc}/u.test(sub)) {
    throw new DomainError('authentication-failed', 'The identity provider names a subject that cannot be one.', {
      extensions: { reason: 'id_token' },
    })
  }
  const source: Record<string, unknown> = info ?? idToken
  const { email, email_verified: verified } = source
  const name = source.name ?? idToken.name
  return {
    connectionId,
    subject: sub,
    email: typeof email === 'string' && email !== '' ? email : undefined,
    // Some providers send text. Any other value counts as false.
    emailVerified: verified === undefined ? undefined : verified === true || verified === 'true',
    displayName: typeof name === 'string' ? readName(name) : undefined,
  }
}

function readName(text: string): string | undefined {
  const name = text
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, nameLengthMax)
  return name === '' ? undefined : name
}
