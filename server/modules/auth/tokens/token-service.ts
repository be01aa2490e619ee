import { setImmediate as turn } from 'node:timers/promises'
import { DomainError } from '../../../../contract/domain-error.ts'
import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import { isScope, type Scope } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database } from '../../../db/database.ts'
import { notedSlugLengthMax } from '../../../http/auth-middleware.ts'
import { isServedAt, type Tenant } from '../../../http/caller.ts'
import type { Denial, DenialRecorder } from '../../governance/governance-types.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type {
  BasicAuthenticator,
  Revocations,
  TokenCharge,
  TokenRequest,
  TokenRequestOrigin,
  TokenService,
} from '../auth-types.ts'
import { addressFilter } from '../service-accounts/allowed-addresses.ts'
import type { ClientDirectory, KnownClient } from '../service-accounts/client-directory.ts'
import { hashClientSecret, matchesAny } from '../service-accounts/client-secrets.ts'
import { touchAccount } from '../service-accounts/service-accounts-store.ts'
import { mintAccessToken } from './token-issuer.ts'
import { addressNotAllowed, invalidClient, oauthError, readBasic, wrongTenant } from './token-request.ts'

/** The reason why a known account gets no token. The caller learns only of `address`. */
type ClientRejection = 'wrong_secret' | 'disabled' | 'expired' | 'address'

interface Verdict {
  /** The account of a known client id, whether or not the secret matches. */
  client?: KnownClient
  /** Absent if the account may have a token. */
  rejection?: ClientRejection
}

type Credentials = Pick<TokenRequest, 'clientId' | 'clientSecret' | 'tenantHeader'>

const touchIntervalMs = 60_000

/** Creates the service for OAuth 2.0 client credentials (RFC 6749, section 4.4). */
export function createTokenService(deps: {
  database: Database
  keys: TokenKeys
  directory: TenantDirectory
  clients: ClientDirectory
  revocations: Pick<Revocations, 'isRevoked'>
  denials: DenialRecorder
  secretsKey: Buffer
}): TokenService & BasicAuthenticator {
  const { database, keys, directory, denials } = deps

  /**
   * Records a rejection for the tenant after the response has left; otherwise its time would reveal which client ids
   * exist.
   */
  function note(
    client: KnownClient,
    what: Pick<Denial, 'kind' | 'reason' | 'details'>,
    { address, requestId }: TokenRequestOrigin,
  ): void {
    const subject = `service_account:${client.clientId}`
    const tenant = turn().then(() => directory.find(client.tenantSlug))
    denials.note(tenant, { ...what, subject, address, requestId })
  }

  /** Returns the account and tenant of the secret if it may have a token from this address now; throws otherwise. */
  async function authenticate(request: Credentials, origin: TokenRequestOrigin) {
    const { hostTenant, address } = origin
    const { client, rejection } = await authenticateClient(deps, request, address)
    if (client && rejection) note(client, { kind: 'auth.login_failed', reason: rejection }, origin)
    if (client === undefined || (rejection && rejection !== 'address')) throw invalidClient()
    // The secret is right from here on. An earlier lookup would reveal by its time which client ids exist.
    const tenant = await directory.find(client.tenantSlug)
    if (tenant ? !isServedAt(hostTenant, tenant) : hostTenant !== undefined) throw invalidClient()
    if (rejection) throw addressNotAllowed()
    // The operator suspended the tenant. The secret is right, so the caller may learn it.
    if (tenant === undefined) throw wrongTenant(client.tenantSlug)
    if (request.tenantHeader !== undefined && request.tenantHeader !== tenant.slug) {
      const details = { tenant_slug: request.tenantHeader.slice(0, notedSlugLengthMax) }
      note(client, { kind: 'auth.access_refused', reason: 'wrong_tenant', details }, origin)
      throw wrongTenant(request.tenantHeader)
    }
    return { client, tenant }
  }

  async function noteUse(client: KnownClient): Promise<void> {
    const now = Date.now()
    if (client.lastUsedAt && now - Date.parse(client.lastUsedAt) < touchIntervalMs) return
    // Also updates the cached account, so that a burst of requests writes once.
    client.lastUsedAt = formatTimestamp(now)
    await database.withTenant(client.tenantSlug, (tx) => touchAccount(tx, client.clientId, formatTimestamp(now)))
  }

  async function mint(tenant: Tenant, client: KnownClient, scopes: Scope[], expiresInSeconds: number) {
    const { clientId, epoch, allowedAddresses } = client
    const limits = { epoch, expiresInSeconds, ...(allowedAddresses && { allowedAddresses }) }
    return mintAccessToken(keys, { tenant, subject: clientId, clientId, scopes, ...limits })
  }

  async function authenticateAndCharge(request: Credentials, charge: TokenCharge, origin: TokenRequestOrigin) {
    const proven = await authenticate(request, origin).catch(async (error: unknown) => {
      // A failure of the service itself is not charged to the caller.
      if (error instanceof DomainError && error.status < 500) await charge.failed(request.clientId)
      throw error
    })
    await charge.succeed(proven.client.clientId, proven.tenant.slug)
    return proven
  }

  return {
    async authenticate(authorization, { tenantHeader, scope, operation }, charge, origin) {
      const credentials = { ...readBasic(authorization), tenantHeader }
      const { client, tenant } = await authenticateAndCharge(credentials, charge, origin)
      await noteUse(client)
      if (!client.scopes.includes(scope)) {
        const details = { operation_id: operation, required_scopes: [scope] }
        note(client, { kind: 'auth.access_refused', reason: 'scope', details }, origin)
        throw new DomainError('insufficient-scope', `This operation requires the scope ${scope}.`, {
          extensions: { required_scopes: [scope] },
        })
      }
      return { clientId: client.clientId, tenant, scopes: new Set(client.scopes.filter(isScope)) }
    },

    async issue(request, charge, origin) {
      const { client, tenant } = await authenticateAndCharge(request, charge, origin)
      const scopes = grantedScopes(request.scopes, client.scopes)
      await noteUse(client)
      const expiresInSeconds = lifetimeSeconds(client)
      return {
        access_token: await mint(tenant, client, scopes, expiresInSeconds),
        expires_in: expiresInSeconds,
        token_type: 'Bearer',
        scope: scopes.join(' '),
      }
    },
  }
}

/** Returns the lifetime of a token in seconds. A token does not outlive its account. */
function lifetimeSeconds({ expiresAt }: KnownClient): number {
  if (expiresAt === null) return serviceTokenSeconds
  return Math.min(serviceTokenSeconds, Math.floor(Date.parse(expiresAt) / 1000) - Math.floor(Date.now() / 1000))
}

/** Returns the requested scopes in their order if all are assigned; without a request, all assigned scopes. */
function grantedScopes(wanted: readonly string[] | undefined, assigned: readonly string[]): Scope[] {
  const beyond = (wanted ?? []).filter((scope) => !assigned.includes(scope))
  if (beyond.length > 0) {
    throw oauthError('invalid_scope', `Not assigned to this account: ${beyond.join(' ').slice(0, 500)}`, {
      pointer: '/scope',
    })
  }
  return (wanted ?? assigned).filter(isScope)
}

/**
 * Checks a client id and a secret. Cached data may accept an account, but every rejection reads the database first: a
 * secret that another process just created works at once, and a rejection takes the same steps whether the account is
 * in use, unknown or disabled, so that its time does not tell them apart.
 */
async function authenticateClient(
  deps: { clients: ClientDirectory; revocations: Pick<Revocations, 'isRevoked'>; secretsKey: Buffer },
  request: Pick<TokenRequest, 'clientId' | 'clientSecret'>,
  address: string,
): Promise<Verdict> {
  const { clients, revocations, secretsKey } = deps
  const given = hashClientSecret(secretsKey, request.clientId, request.clientSecret)
  const known = clients.remembered(request.clientId)
  if (rejectionOf(known, given, address) === undefined && known) {
    // The account has changed since: a token of its old epoch would be rejected everywhere.
    const isStale = await revocations.isRevoked(known.tenantSlug, `client:${known.clientId}`, known.epoch)
    if (!isStale) return { client: known }
  }
  const client = await clients.read(request.clientId)
  const rejection = rejectionOf(client, given, address)
  return { ...(client && { client }), ...(rejection && { rejection }) }
}

function rejectionOf(client: KnownClient | undefined, given: Buffer, address: string): ClientRejection | undefined {
  const nowMs = Date.now()
  const live = (client?.secrets ?? []).filter(({ until }) => until === null || until > nowMs)
  const isOwn = matchesAny(
    given,
    live.map((secret) => secret.hash),
  )
  if (!client || !isOwn) return 'wrong_secret'
  if (client.disabled) return 'disabled'
  // A token is valid for whole seconds, at least one.
  if (client.expiresAt && Math.floor(Date.parse(client.expiresAt) / 1000) <= Math.floor(nowMs / 1000)) return 'expired'
  if (client.allowedAddresses && !addressFilter(client.allowedAddresses)(address)) return 'address'
  return undefined
}
