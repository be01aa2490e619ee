import { formField, oauthError, readScopes, type TokenFields } from '../tokens/token-request.ts'

interface GrantBasics {
  clientId: string
  resource: string | undefined
  /** The X-Service-Tenant header, which standard clients cannot send. */
  tenantHeader: string | undefined
}

export interface CodeRequest extends GrantBasics {
  grantType: 'authorization_code'
  code: string
  redirectUri: string
  codeVerifier: string
}

export interface RefreshRequest extends GrantBasics {
  grantType: 'refresh_token'
  refreshToken: string
  /** The scopes of this access token. Absent: all that were granted. */
  scopes: readonly string[] | undefined
}

/** A token request of a client that a person authorized. */
export type GrantRequest = CodeRequest | RefreshRequest

/**
 * Reads the token request of an authorized client (RFC 6749, sections 4.1.3 and 6); returns undefined for other grants.
 *
 * @throws DomainError with the members of an OAuth error
 */
export function readGrantRequest(
  form: TokenFields,
  headers: { authorization?: string | undefined; 'x-service-tenant'?: string | string[] | undefined },
): GrantRequest | undefined {
  const field = (name: string) => formField(form, name)
  const grantType = field('grant_type')
  if (grantType !== 'authorization_code' && grantType !== 'refresh_token') return undefined
  if (headers.authorization !== undefined) {
    const detail = 'Clients of this grant have no secret. Send client_id in the body, without an Authorization header.'
    throw oauthError('invalid_request', detail, { pointer: '/headers/authorization' })
  }
  const required = (name: string): string => {
    const value = field(name)
    if (value === undefined) throw oauthError('invalid_request', `${name} is missing.`, { pointer: `/${name}` })
    return value
  }
  const basics = {
    clientId: required('client_id'),
    resource: field('resource'),
    tenantHeader: headers['x-service-tenant']?.toString() || undefined,
  }
  if (grantType === 'refresh_token') {
    return { grantType, ...basics, refreshToken: required('refresh_token'), scopes: readScopes(field('scope')) }
  }
  return {
    grantType,
    ...basics,
    code: required('code'),
    redirectUri: required('redirect_uri'),
    codeVerifier: required('code_verifier'),
  }
}
