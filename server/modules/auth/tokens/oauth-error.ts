import { DomainError } from '../../../../contract/domain-error.ts'
import type { OAuthErrorCode } from '../auth-types.ts'

/** A problem of the token endpoint, with the members that OAuth clients read (RFC 6749, section 5.2). */
export function oauthError(
  code: OAuthErrorCode,
  detail: string,
  options: { pointer?: string; slug?: 'invalid-tenant'; extensions?: Record<string, unknown> } = {},
): DomainError {
  const slug = options.slug ?? (code === 'invalid_client' ? 'authentication-failed' : 'validation-failed')
  return new DomainError(slug, detail, {
    extensions: { error: code, error_description: asErrorDescription(detail), ...options.extensions },
    ...(options.pointer === undefined ? {} : { errors: [{ pointer: options.pointer, detail }] }),
  })
}

/** The client is unknown, disabled or has another secret: one answer, so that nobody learns which. */
export function invalidClient(detail = 'The client id or the client secret is wrong.'): DomainError {
  return oauthError('invalid_client', detail)
}

/** The characters that error_description may have (RFC 6749, section 5.2). */
function asErrorDescription(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
