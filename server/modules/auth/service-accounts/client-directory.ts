import { LRUCache } from 'lru-cache'
import { type Database, readTenant } from '../../../db/database.ts'
import { accountRows } from '../../../db/proven-rows.ts'
import { isClientId } from './client-secrets.ts'
import { credentialsOf, tenantOfClient } from './service-accounts-store.ts'

/** Milliseconds for which a change by another process may go unnoticed; the promise is 5 seconds. */
const freshMs = 2_000

const entriesMax = 10_000

/**
 * Anyone can cause these reads with any text as a client id, so they must not use up the connections of other requests.
 */
const readsAtOnce = 4

/** Stands in for the tenant of an unknown client: a read there takes as long and finds nothing. */
const nobody = 'unknown-client'

/** The stored account that a token request is checked against. */
export interface KnownClient {
  clientId: string
  tenantSlug: string
  scopes: string[]
  disabled: boolean
  expiresAt: string | null
  allowedAddresses: string[] | null
  /** Epoch of access tokens. Every change that must end live tokens raises it. */
  epoch: number
  lastUsedAt: string | null
  secrets: { hash: Buffer /** Expiry in milliseconds since 1970; null is never. */; until: number | null }[]
}

/** Finds service accounts across tenants. */
export interface ClientDirectory {
  /** Returns an account from memory, at most two seconds old. */
  remembered(clientId: string): KnownClient | undefined
  /** Reads an account from the database. An unknown id takes as many steps as a known one. */
  read(clientId: string): Promise<KnownClient | undefined>
  /** Removes an account from memory. Every change of the account must call this. */
  forget(clientId: string): void
}

export function createClientDirectory({ database }: { database: Database }): ClientDirectory {
  const memory = new LRUCache<string, KnownClient>({ max: entriesMax, ttl: freshMs, ttlResolution: 0 })
  const inTurn = limitConcurrency(readsAtOnce)

  async function read(clientId: string): Promise<KnownClient | undefined> {
    const tenantSlug = await database.withRegistry((tx) => tenantOfClient(tx, clientId))
    const { row, isSound } = await readTenant(database, tenantSlug ?? nobody, async (tx) => {
      const found = await credentialsOf(tx, clientId)
      // An unknown account takes the same work, but is not reported.
      const holds = found.is_known
        ? tx.proofs.sound(accountRows, tx.tenantId, found) !== undefined
        : tx.proofs.holds(accountRows, tx.tenantId, found)
      return { row: found, isSound: holds }
    })
    const client: KnownClient = {
      clientId,
      tenantSlug: tenantSlug ?? nobody,
      scopes: row.scopes,
      disabled: row.disabled,
      expiresAt: row.expires_at,
      allowedAddresses: row.allowed_addresses,
      epoch: row.epoch,
      lastUsedAt: row.last_used_at,
      secrets: row.secrets.map(({ hash, until }) => ({ hash: Buffer.from(hash, 'hex'), until })),
    }
    if (tenantSlug === undefined || !row.is_known || !isSound) return undefined
    memory.set(clientId, client)
    return client
  }

  return {
    remembered: (clientId) => memory.get(clientId),
    read: async (clientId) => (isClientId(clientId) ? inTurn(() => read(clientId)) : undefined),
    forget: (clientId) => void memory.delete(clientId),
  }
}

/** Returns a function that runs at most `count` tasks at a time; further tasks wait in order of arrival. */
export function limitConcurrency(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < count) running += 1
    // A task that ends passes its slot to the first waiting task.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
