import { DomainError } from '../../../../contract/domain-error.ts'
import type { OAuthErrorCode, TokenRequest } from '../auth-types.ts'

const grantTypes = 'grant_type must be client_credentials, authorization_code or refresh_token.'

interface Credentials {
  clientId: string
  clientSecret: string
  basic: boolean
}

const fieldLengthMax = 4096

export type TokenFields = Readonly<Record<string, string | string[]>>

/**
 * Returns the value of a field of a token request; undefined for a field without a value.
 *
 * @throws DomainError with the members of an OAuth error, for a repeated or too long field
 */
export function formField(form: TokenFields, name: string): string | undefined {
  const value = Object.hasOwn(form, name) ? form[name] : undefined
  if (Array.isArray(value)) {
    throw oauthError('invalid_request', `${name} occurs more than once.`, { pointer: `/${name}` })
  }
  if (value !== undefined && value.length > fieldLengthMax) {
    throw oauthError('invalid_request', `${name} is longer than ${fieldLengthMax} characters.`, {
      pointer: `/${name}`,
    })
  }
  return value || undefined
}

/**
 * Reads a request for the token of a service account (RFC 6749, sections 2.3.1, 3.2 and 4.4.2). Unknown fields are
 * ignored, as section 3.2 requires, and a field without a value counts as absent.
 *
 * @throws DomainError with the members of an OAuth error
 */
export function readTokenRequest(
  form: TokenFields,
  headers: { authorization?: string | undefined; 'x-service-tenant'?: string | string[] | undefined },
): TokenRequest {
  const field = (name: string) => formField(form, name)
  const grantType = field('grant_type')
  if (grantType === undefined) {
    throw oauthError('invalid_request', `grant_type is missing. ${grantTypes}`, { pointer: '/grant_type' })
  }
  const credentials = readCredentials(headers.authorization, field('client_id'), field('client_secret'))
  if (grantType !== 'client_credentials') {
    throw oauthError('unsupported_grant_type', grantTypes, { pointer: '/grant_type' })
  }
  return { ...credentials, scopes: readScopes(field('scope')), tenantHeader: headers['x-service-tenant']?.toString() }
}

function readCredentials(
  authorization: string | undefined,
  clientId: string | undefined,
  clientSecret: string | undefined,
): Credentials {
  if (authorization !== undefined) {
    const basic = readBasic(authorization)
    if (clientSecret !== undefined) {
      throw oauthError(
        'invalid_request',
        'The client authenticates twice. Send the secret in the body or in an Authorization header, not in both.',
        { pointer: '/client_secret' },
      )
    }
    if (clientId !== undefined && clientId !== basic.clientId) {
      throw oauthError('invalid_request', 'client_id differs from the Authorization header.', {
        pointer: '/client_id',
      })
    }
    return basic
  }
  if (clientId === undefined || clientSecret === undefined) {
    const missing = clientId === undefined ? 'client_id' : 'client_secret'
    throw oauthError(
      'invalid_request',
      `${missing} is missing. Send client_id and client_secret in the body or by HTTP Basic.`,
      { pointer: `/${missing}` },
    )
  }
  return { clientId, clientSecret, basic: false }
}

/** Reads HTTP Basic credentials. Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1). */
export function readBasic(authorization: string): Credentials {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  const clientId = formDecode(text.slice(0, Math.max(colon, 0)))
  const clientSecret = formDecode(text.slice(colon + 1))
  if (colon < 1 || !clientId || !clientSecret || authorization.length > 2 * fieldLengthMax) {
    throw invalidClient('The Authorization header is not HTTP Basic with a client id and a secret.')
  }
  return { clientId, clientSecret, basic: true }
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

export function readScopes(scope: string | undefined): string[] | undefined {
  const names = (scope ?? '').split(' ').filter((name) => name !== '')
  return names.length === 0 ? undefined : [...new Set(names)]
}

/** Creates a problem of the token endpoint with the members that OAuth clients read (RFC 6749, section 5.2). */
export function oauthError(
  code: OAuthErrorCode,
  detail: string,
  options: {
    pointer?: string
    slug?: 'invalid-tenant' | 'address-not-allowed'
    extensions?: Record<string, unknown>
  } = {},
): DomainError {
  const slug = options.slug ?? (code === 'invalid_client' ? 'authentication-failed' : 'validation-failed')
  return new DomainError(slug, detail, {
    extensions: { error: code, error_description: asErrorDescription(detail), ...options.extensions },
    ...(options.pointer === undefined ? {} : { errors: [{ pointer: options.pointer, detail }] }),
  })
}

/**
 * Creates the same error for a client that is unknown, disabled, expired or has another secret, so that nobody learns
 * which.
 */
export function invalidClient(detail = 'The client id or the client secret is wrong.'): DomainError {
  return oauthError('invalid_client', detail)
}

/** Creates the error for an X-Service-Tenant header that names another tenant than the account's own. */
export function wrongTenant(slug: string): DomainError {
  return oauthError('unauthorized_client', 'The tenant does not exist, or the account belongs to another tenant.', {
    slug: 'invalid-tenant',
    pointer: '/headers/x-service-tenant',
    extensions: { tenant_slug: slug },
  })
}

/** Creates the error for a wrong address. Only callers with the right secret receive it. */
export function addressNotAllowed(): DomainError {
  return oauthError(
    'unauthorized_client',
    'This account cannot be used from this address. See its allowed_addresses.',
    { slug: 'address-not-allowed' },
  )
}

/** Replaces the characters that error_description may not contain (RFC 6749, section 5.2). */
function asErrorDescription(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
