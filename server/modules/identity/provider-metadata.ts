import type { ServerMetadata } from 'openid-client'
import type { Outbound } from '../../outbound/outbound.ts'

/**
 * Signals that an identity provider is unusable. The message names the fetched address and the problem, without secrets
 * or people.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}

/** The validated parts of a provider's configuration that the Hub uses (OpenID Connect Discovery 1.0, section 3). */
export interface ProviderMetadata extends ServerMetadata {
  authorization_endpoint: string
  token_endpoint: string
  jwks_uri: string
  userinfo_endpoint?: string
  /** Asymmetric algorithms only: anyone with a shared secret could sign for the provider. */
  id_token_signing_alg_values_supported: string[]
  token_endpoint_auth_methods_supported: string[]
  authorization_response_iss_parameter_supported: boolean
}

const asymmetric = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/

const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const

export const clientAuthMethods = ['client_secret_basic', 'client_secret_post'] as const

/**
 * Reads a configuration document. The issuer must equal the configured one byte for byte, every endpoint must pass the
 * guard, and the provider must support code flow, PKCE with S256 and signatures with a public key.
 * Throws {@link ProviderError}.
 */
export function readMetadata(
  document: unknown,
  issuer: string,
  outbound: Pick<Outbound, 'problemOf'>,
): ProviderMetadata {
  if (typeof document !== 'object' || document === null) throw new ProviderError('is not a JSON object')
  const given = new Map(Object.entries(document))
  if (given.get('issuer') !== issuer) {
    throw new ProviderError(
      `has the issuer ${quoted(given.get('issuer'))}, which is not ${quoted(issuer)} byte for byte`,
    )
  }
  for (const name of endpoints) {
    const url = given.get(name)
    if (url === undefined && name === 'userinfo_endpoint') continue
    if (typeof url !== 'string') throw new ProviderError(`has no ${name}`)
    const problem = outbound.problemOf(url)
    if (problem !== undefined) throw new ProviderError(`has the ${name} ${quoted(url)}, which ${problem}`)
  }
  const names = (name: string) => namesIn(given, name)
  requireOneOf('response_types_supported', names('response_types_supported'), ['code'])
  requireOneOf('grant_types_supported', names('grant_types_supported'), ['authorization_code'])
  // Providers that do not list methods, such as Entra ID, still support S256; only one that lists others does not.
  requireOneOf('code_challenge_methods_supported', names('code_challenge_methods_supported'), ['S256'])
  const authMethods = names('token_endpoint_auth_methods_supported') ?? ['client_secret_basic']
  requireOneOf('token_endpoint_auth_methods_supported', authMethods, clientAuthMethods)
  const algorithms = (names('id_token_signing_alg_values_supported') ?? ['RS256']).filter((name) =>
    asymmetric.test(name),
  )
  if (algorithms.length === 0) {
    throw new ProviderError('lists no public-key algorithm in id_token_signing_alg_values_supported, such as RS256')
  }
  const userinfo = given.get('userinfo_endpoint')
  return {
    issuer,
    authorization_endpoint: String(given.get('authorization_endpoint')),
    token_endpoint: String(given.get('token_endpoint')),
    jwks_uri: String(given.get('jwks_uri')),
    ...(userinfo !== undefined && { userinfo_endpoint: String(userinfo) }),
    id_token_signing_alg_values_supported: algorithms,
    token_endpoint_auth_methods_supported: authMethods,
    authorization_response_iss_parameter_supported:
      given.get('authorization_response_iss_parameter_supported') === true,
  }
}

function namesIn(given: ReadonlyMap<string, unknown>, name: string): string[] | undefined {
  const value = given.get(name)
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw new ProviderError(`has a ${name} that is not a list`)
  return value.filter((each): each is string => typeof each === 'string')
}

function requireOneOf(member: string, listed: readonly string[] | undefined, wanted: readonly string[]): void {
  if (listed === undefined || wanted.some((each) => listed.includes(each))) return
  throw new ProviderError(`does not list ${wanted.join(' or ')} in ${member}`)
}

function quoted(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? '').slice(0, 300)
}
