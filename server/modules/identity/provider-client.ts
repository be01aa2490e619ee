import type { IDToken, UserInfoResponse } from 'openid-client'
import * as oidc from 'openid-client'
import { DomainError } from '../../../contract/domain-error.ts'
import type { DatabaseLog } from '../../db/database.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { domainOfEmail } from './email-domains.ts'
import type { IdentityProvider, LoginSecrets, ProviderClaims } from './identity-types.ts'
import { rejectedCallback, rejectedExchange } from './oidc-callback-errors.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

const nameLengthMax = 200

/** Maximum length of `sub` (OpenID Connect Core 1.0, section 2). */
const subjectLengthMax = 255

/** The cached data of a provider between logins. */
export interface KnownProvider {
  metadata: ProviderMetadata
  keys?: oidc.ExportedJWKSCache
}

const scope = 'openid email profile'

const timeoutSeconds = 10

/** Seconds after which the library fetches keys again for an unknown key id. */
const keysRefreshSeconds = 60

/** Creates the client of one tenant's connection. `known` throws DomainError `hub-unavailable`. */
export function createProviderClient(parts: {
  connectionId: string
  allowedEmailDomains: readonly string[]
  clientId: string
  clientSecret: () => string
  outbound: Outbound
  log: DatabaseLog
  known: () => Promise<KnownProvider>
}): IdentityProvider {
  const { connectionId, allowedEmailDomains, outbound } = parts
  const domains = new Set(allowedEmailDomains)

  function configurationOf({ metadata, keys }: KnownProvider): oidc.Configuration {
    const secret = parts.clientSecret()
    const byBasic = metadata.token_endpoint_auth_methods_supported.includes('client_secret_basic')
    const authentication = byBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
    const configuration = new oidc.Configuration(metadata, parts.clientId, undefined, authentication)
    configuration.timeout = timeoutSeconds
    configuration[oidc.customFetch] = (url, options) => outbound.fetch(url, options as RequestInit)
    // Otherwise the library trusts TLS for the ID token and does not verify its signature.
    oidc.enableNonRepudiationChecks(configuration)
    // The guard has checked every endpoint, so an http endpoint is allowed.
    const { token_endpoint, jwks_uri, userinfo_endpoint = '' } = metadata
    if ([token_endpoint, jwks_uri, userinfo_endpoint].some((url) => url.startsWith('http:'))) {
      oidc.allowInsecureRequests(configuration)
    }
    // An unknown key may be new. The backdated cache lets the library fetch it at once, so that a rotation delays
    // nobody for a minute. Only a caller with a code of the provider causes the fetch.
    if (keys) oidc.setJwksCache(configuration, { ...keys, uat: keys.uat - keysRefreshSeconds })
    return configuration
  }

  /** Keeps keys fetched by the library for the next login. */
  function keepKeys(known: KnownProvider, configuration: oidc.Configuration): void {
    const fetched = oidc.getJwksCache(configuration)
    const seeded = known.keys && known.keys.uat - keysRefreshSeconds
    if (fetched && fetched.uat !== seeded) known.keys = fetched
  }

  async function exchange(known: KnownProvider, current: URL, login: LoginSecrets) {
    const configuration = configurationOf(known)
    const call = { exchanging: false }
    const fetchOut = configuration[oidc.customFetch] as oidc.CustomFetch
    configuration[oidc.customFetch] = (url, options) => {
      call.exchanging = true
      return fetchOut(url, options)
    }
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, current, {
        expectedState: login.state,
        expectedNonce: login.nonce,
        pkceCodeVerifier: login.codeVerifier,
        idTokenExpected: true,
      })
      const idToken = tokens.claims() as oidc.IDToken
      const { userinfo_endpoint } = known.metadata
      const isComplete = idToken.email !== undefined || userinfo_endpoint === undefined
      const info = isComplete ? undefined : await oidc.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
      return readClaims(connectionId, idToken, info)
    } catch (error) {
      throw call.exchanging ? rejectedExchange(error) : rejectedCallback(error, current, known.metadata)
    } finally {
      keepKeys(known, configuration)
    }
  }

  return {
    connectionId,
    allowedEmailDomains,
    allowsEmail: (email) => domains.has(domainOfEmail(email) ?? ''),
    async loginUrl({ state, nonce, codeVerifier }, redirectUri) {
      const configuration = configurationOf(await parts.known())
      return oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
    },
    async finish(callback, login, redirectUri) {
      const current = new URL(redirectUri)
      current.search = callback.search
      return exchange(await parts.known(), current, login)
    },
  }
}

/** Reads the claims from the verified ID token, or from userinfo if the token has no address. */
function readClaims(connectionId: string, idToken: IDToken, info: UserInfoResponse | undefined): ProviderClaims {
  const { sub } = idToken
  if (sub.length === 0 || sub.length > subjectLengthMax || /\p{Cc}/u.test(sub)) {
    throw new DomainError('authentication-failed', 'The identity provider sends an invalid subject.', {
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
