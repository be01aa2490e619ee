import { DomainError } from '../../../../contract/domain-error.ts'
import type { OAuthErrorCode } from '../auth-types.ts'

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
  return oauthError('unauthorized_client', 'The tenant does not exist, or this account is not one of its own.', {
    slug: 'invalid-tenant',
    pointer: '/headers/x-service-tenant',
    extensions: { tenant_slug: slug },
  })
}

/** Creates the error for a wrong address. Only callers with the right secret receive it. */
export function addressNotAllowed(): DomainError {
  return oauthError(
    'unauthorized_client',
    'The secret is right, but this account may not be used from this address. Its list is in allowed_addresses.',
    { slug: 'address-not-allowed' },
  )
}

/** Replaces the characters that error_description may not contain (RFC 6749, section 5.2). */
function asErrorDescription(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
