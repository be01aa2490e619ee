import type { Revocations, TokenRequest } from '../auth-types.ts'
import { addressFilter } from '../service-accounts/allowed-addresses.ts'
import type { ClientDirectory, KnownClient } from '../service-accounts/client-directory.ts'
import { hashClientSecret, matchesAny } from '../service-accounts/client-secrets.ts'

/** The reason why a known account gets no token. The caller learns only of `address`. */
export type ClientRefusal = 'wrong_secret' | 'disabled' | 'expired' | 'address'

interface Verdict {
  /** The account of a known client id, whether or not the secret matches. */
  client?: KnownClient
  /** Absent if the account may have a token. */
  refusal?: ClientRefusal
}

/**
 * Checks a client id and a secret. Cached data may accept an account, but every rejection reads the database first: a
 * secret that another process just created works at once, and a rejection takes the same steps whether the account is
 * in use, unknown or disabled, so that its time does not tell them apart.
 */
export async function authenticateClient(
  deps: { clients: ClientDirectory; revocations: Pick<Revocations, 'isRevoked'>; secretsKey: Buffer },
  request: Pick<TokenRequest, 'clientId' | 'clientSecret'>,
  address: string,
): Promise<Verdict> {
  const { clients, revocations, secretsKey } = deps
  const given = hashClientSecret(secretsKey, request.clientId, request.clientSecret)
  const known = clients.remembered(request.clientId)
  if (refusalOf(known, given, address) === undefined && known) {
    // The account has changed since: a token of its old epoch would be rejected everywhere.
    const isStale = await revocations.isRevoked(known.tenantSlug, `client:${known.clientId}`, known.epoch)
    if (!isStale) return { client: known }
  }
  const client = await clients.read(request.clientId)
  const refusal = refusalOf(client, given, address)
  return { ...(client && { client }), ...(refusal && { refusal }) }
}

function refusalOf(client: KnownClient | undefined, given: Buffer, address: string): ClientRefusal | undefined {
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
