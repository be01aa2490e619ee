import * as oidc from 'openid-client'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { outboundErrorIn } from '../../outbound/outbound-error.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

const again = 'Begin the sign-in again.'

/** Returns an error code of RFC 6749 or OpenID Connect, which has this form; replaces any other text. */
function errorCode(text: unknown): string {
  return typeof text === 'string' && /^[a-z_]{1,60}$/.test(text) ? text : 'unknown_error'
}

/** Creates the error for a callback that does not answer this login. No request to the provider was made. */
export function rejectedCallback(error: unknown, callback: URL, metadata: ProviderMetadata): Error {
  if (error instanceof oidc.AuthorizationResponseError) {
    const code = errorCode(error.error)
    const detail = `is ${code}: the identity provider did not sign you in, or you cancelled there`
    const summary =
      code === 'access_denied'
        ? 'You cancelled the sign-in, or the identity provider did not let you in (access_denied).'
        : `The identity provider answered ${code}.`
    return validationFailed([{ pointer: '/query/error', detail }], `${summary} ${again}`)
  }
  if (!(error instanceof oidc.ClientError)) return error as Error
  const issuer = callback.searchParams.get('iss')
  const isForeign =
    issuer === null ? metadata.authorization_response_iss_parameter_supported : issuer !== metadata.issuer
  if (isForeign) {
    const detail = 'must be the issuer that the login was begun at (RFC 9207)'
    const summary = `The answer is not of this tenant’s identity provider. ${again}`
    return validationFailed([{ pointer: '/query/iss', detail }], summary)
  }
  const detail = 'must be the code that the identity provider gave for this login'
  return validationFailed([{ pointer: '/query/code', detail }], `The address is not the answer to a login. ${again}`)
}

/**
 * Creates the error for a failed exchange of a code. Its cause is for the log, so it contains neither tokens nor
 * people.
 */
export function rejectedExchange(error: unknown): Error {
  if (error instanceof DomainError) return error
  const unreached = outboundErrorIn(error)
  if (unreached) return unavailable('does not answer', `the provider ${unreached.message}`)
  if (error instanceof oidc.ResponseBodyError) {
    const code = errorCode(error.error)
    if (error.status >= 500) return unavailable('does not answer as it must', `answered ${error.status} ${code}`)
    if (code === 'invalid_client' || code === 'unauthorized_client') return secretRefused(code)
    const detail = `was refused by the identity provider (${code}): it was used already, or has expired`
    return validationFailed(
      [{ pointer: '/query/code', detail }],
      `The code of this sign-in is no longer good. ${again}`,
    )
  }
  if (error instanceof oidc.WWWAuthenticateChallengeError) return secretRefused(`answered ${error.status}`)
  if (!(error instanceof oidc.ClientError)) return error as Error
  const { code } = error
  if (code === undefined || brokenAnswers.has(code)) return unavailable('does not answer as it must', code ?? 'no code')
  return new DomainError(
    'authentication-failed',
    `What the identity provider says of you does not hold: its token is not for this service and this login, or not signed by its keys. ${again}`,
    { extensions: { reason: 'id_token' } },
  )
}

/** Codes of openid-client for responses that break the protocol, as opposed to responses with wrong content. */
const brokenAnswers = new Set([
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
])

function unavailable(what: string, cause: string): DomainError {
  const detail = `The identity provider of this tenant ${what}. Begin the sign-in again in a moment.`
  return new DomainError('hub-unavailable', detail, { cause: new Error(cause), extensions: { reason: 'provider' } })
}

function secretRefused(cause: string): DomainError {
  return new DomainError(
    'hub-unavailable',
    'The identity provider refuses the Hub’s client secret. An administrator of the tenant has to configure single sign-on with the secret that is valid now.',
    { cause: new Error(`the provider refuses the client: ${cause}`), extensions: { reason: 'client_refused' } },
  )
}
