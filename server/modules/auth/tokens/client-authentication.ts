import type { Revocations, TokenRequest } from '../auth-types.ts'
import { addressFilter } from '../service-accounts/allowed-addresses.ts'
import type { ClientDirectory, KnownClient } from '../service-accounts/client-directory.ts'
import { hashClientSecret, matchesAny } from '../service-accounts/client-secrets.ts'

/** Why a known account gets no token. Only `address` is told to the caller. */
export type ClientRefusal = 'wrong_secret' | 'disabled' | 'expired' | 'address'

interface Verdict {
  /** Of a known client id, whether or not the secret is its own. */
  client?: KnownClient
  /** Absent when the account may have a token. */
  refusal?: ClientRefusal
}

/**
 * Looks at a client id and a secret. What is remembered may let an account in, but none is refused before the database
 * was asked: a secret that another process has just made is good at once, and every refusal takes the same steps,
 * whether the account is in use, unknown or disabled, so that the time of the answer does not tell them apart.
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
    // The account has changed since: a token of its old epoch would be refused wherever it is used.
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
  // A token is valid for whole seconds, and for one at least.
  if (client.expiresAt && Math.floor(Date.parse(client.expiresAt) / 1000) <= Math.floor(nowMs / 1000)) return 'expired'
  if (client.allowedAddresses && !addressFilter(client.allowedAddresses)(address)) return 'address'
  return undefined
}
