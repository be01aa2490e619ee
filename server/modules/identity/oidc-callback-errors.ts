import * as oidc from 'openid-client'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { outboundErrorIn } from '../../outbound/outbound-error.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

const again = 'Start the sign-in again.'

/** Returns an error code of RFC 6749 or OpenID Connect, which has this form; replaces any other text. */
function errorCode(text: unknown): string {
  return typeof text === 'string' && /^[a-z_]{1,60}$/.test(text) ? text : 'unknown_error'
}

/** Creates the error for a callback that does not answer this login. No request to the provider was made. */
export function rejectedCallback(error: unknown, callback: URL, metadata: ProviderMetadata): Error {
  if (error instanceof oidc.AuthorizationResponseError) {
    const code = errorCode(error.error)
    const detail = `is ${code}: the identity provider did not sign you in, or you cancelled`
    const summary =
      code === 'access_denied'
        ? 'You cancelled the sign-in, or the identity provider denied it (access_denied).'
        : `The identity provider responded ${code}.`
    return validationFailed([{ pointer: '/query/error', detail }], `${summary} ${again}`)
  }
  if (!(error instanceof oidc.ClientError)) return error as Error
  const issuer = callback.searchParams.get('iss')
  const isForeign =
    issuer === null ? metadata.authorization_response_iss_parameter_supported : issuer !== metadata.issuer
  if (isForeign) {
    const detail = 'must be the issuer of the login (RFC 9207)'
    const summary = `The response is not from this tenant’s identity provider. ${again}`
    return validationFailed([{ pointer: '/query/iss', detail }], summary)
  }
  const detail = 'must be the code of the identity provider for this login'
  return validationFailed([{ pointer: '/query/code', detail }], `The address is not the response to a login. ${again}`)
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
    if (error.status >= 500) return unavailable('does not respond correctly', `answered ${error.status} ${code}`)
    if (code === 'invalid_client' || code === 'unauthorized_client') return secretRefused(code)
    const detail = `was refused by the identity provider (${code}): it was used already, or has expired`
    return validationFailed(
      [{ pointer: '/query/code', detail }],
      `The code of this sign-in is no longer valid. ${again}`,
    )
  }
  if (error instanceof oidc.WWWAuthenticateChallengeError) return secretRefused(`answered ${error.status}`)
  if (!(error instanceof oidc.ClientError)) return error as Error
  const { code } = error
  if (code === undefined || brokenAnswers.has(code)) return unavailable('does not respond correctly', code ?? 'no code')
  return new DomainError(
    'authentication-failed',
    `The token of the identity provider is invalid: it is not for this service and this login, or not signed by its keys. ${again}`,
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
  const detail = `The identity provider of this tenant ${what}. Start the sign-in again in a moment.`
  return new DomainError('hub-unavailable', detail, { cause: new Error(cause), extensions: { reason: 'provider' } })
}

function secretRefused(cause: string): DomainError {
  return new DomainError(
    'hub-unavailable',
    'The identity provider rejects the Hub’s client secret. An administrator of the tenant must configure single ' +
      'sign-on with the current secret.',
    { cause: new Error(`the provider rejects the client: ${cause}`), extensions: { reason: 'client_refused' } },
  )
}
