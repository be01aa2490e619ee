import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { getOrFetch } from '../../cached-fetch.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import {
  insertProvenanceKey,
  insertPublishedKey,
  type ProvenanceKeyRow,
  provenanceKeys,
  retireProvenanceKey,
  retirePublishedKey,
  retirePublishedKeys,
} from './keys-store.ts'
import type {
  ProvenanceKeyAudit,
  ProvenanceKeyMaker,
  ProvenanceKeySuccession,
  ProvenanceKeys,
  ProvenanceSigner,
  PublishedKey,
} from './keys-types.ts'
import { createVerifiedKeys, makeProvenanceKeyRow, publishedKeyOf, type VerifiedKeys } from './provenance-key.ts'
import { createProvenanceKeyAudit } from './provenance-key-audit.ts'

/** Milliseconds after which a tenant's keys are read again in the background; after `staleMs`, callers wait for it. */
const refreshMs = 2_500
/** Maximum time in milliseconds that a key retired by another process still signs. Its signatures remain valid. */
const staleMs = 5_000
const tenantsCachedMax = 10_000

interface TenantKeys {
  signer: ProvenanceSigner | undefined
  publicKeys: readonly PublishedKey[]
}

/** Provides the provenance keys of all tenants: the current ones for signing, all of them for verification. */
export function createProvenanceKeys(deps: {
  database: Database
  masterKey: Buffer
}): ProvenanceKeys & ProvenanceKeyMaker & ProvenanceKeySuccession & ProvenanceKeyAudit {
  const sealingKey = deriveKey(deps.masterKey, 'provenance keys')
  const genuine = createVerifiedKeys(sealingKey)
  const cache = new LRUCache<string, TenantKeys>({
    max: tenantsCachedMax,
    ttl: refreshMs,
    // Returns cached keys during a refresh.
    allowStale: true,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    // A caller that waits for a fetch gets its result, even if a transaction has stored something newer meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: (tenantId) =>
      deps.database.withTenant(tenantId, async (tx) => openKeys(await provenanceKeys(tx), genuine), {
        readOnly: true,
      }),
  })

  const isFresh = (tenantId: string) => cache.getRemainingTTL(tenantId) > refreshMs - staleMs
  const fetchKeys = (tenantId: string) => cache.fetch(tenantId, { allowStale: isFresh(tenantId) })

  /**
   * Returns the keys inside `tx`, because no other transaction may be opened meanwhile. Caches them only after the
   * commit, because `tx` may fail.
   */
  async function keysWithin(tx: TenantTx): Promise<TenantKeys> {
    const known = cache.get(tx.tenantId)
    if (known?.signer && isFresh(tx.tenantId)) return known
    const keys = openKeys(await provenanceKeys(tx), genuine)
    tx.afterCommit(() => cache.set(tx.tenantId, keys))
    return keys
  }

  async function publicKeysWithin(tx: TenantTx, needed: readonly string[]): Promise<readonly PublishedKey[]> {
    const known = cache.get(tx.tenantId)?.publicKeys ?? []
    if (needed.every((keyId) => known.some((key) => key.keyId === keyId))) return known
    return openKeys(await provenanceKeys(tx), genuine).publicKeys
  }

  async function signerOf(tenantId: string, tx?: TenantTx): Promise<ProvenanceSigner> {
    const keys = tx ? await keysWithin(tx) : await getOrFetch(cache, tenantId)
    if (!keys?.signer) cache.delete(tenantId)
    return requireSigner(tenantId, keys)
  }

  function requireSigner(tenantId: string, keys: TenantKeys | undefined): ProvenanceSigner {
    if (keys?.signer) return keys.signer
    throw new DomainError('internal', 'The tenant has no signing key. Ask the operator to check the log.', {
      cause: new Error(`tenant ${tenantId} has no active provenance key`),
    })
  }

  return {
    ...createProvenanceKeyAudit({ database: deps.database, genuine }),
    signerOf,
    async publicKeysOf(tenantId, needed = [], tx) {
      if (tx) return publicKeysWithin(tx, needed)
      const keys = (await fetchKeys(tenantId))?.publicKeys ?? []
      const known = new Set(keys.map((key) => key.keyId))
      if (needed.every((keyId) => known.has(keyId))) return keys
      return (await cache.fetch(tenantId, { forceRefresh: true, allowStale: false }))?.publicKeys ?? []
    },
    async ensureKey(tx) {
      const existing = (await provenanceKeys(tx)).findLast(
        (row) => row.retired_at === null && genuine.open(row) !== undefined,
      )
      const key = publishedKeyOf(existing ?? (await makeFirstKey(tx, sealingKey)))
      tx.afterCommit(() => cache.delete(tx.tenantId))
      return key
    },
    async publish(tx, key) {
      await insertPublishedKey(tx, {
        key_id: key.keyId,
        name: key.name,
        public_key: Buffer.from(key.publicKey),
        created_at: key.createdAt,
        retired_at: null,
        succession: key.succession ?? null,
      })
    },
    async prepareSuccessor(tenantId) {
      // Not from the cache: two rotations must create two keys.
      const read = deps.database.withTenant(tenantId, provenanceKeys, { readOnly: true })
      const predecessor = requireSigner(tenantId, openKeys(await read, genuine))
      const row = makeProvenanceKeyRow(sealingKey, { tenantId, name: predecessor.logName }, predecessor)
      return { key: publishedKeyOf(row), predecessorId: predecessor.keyId, privateKeySealed: row.private_key_sealed }
    },
    async succeed(tx, { key, predecessorId, privateKeySealed }) {
      if (!(await retireProvenanceKey(tx, predecessorId, key.createdAt))) {
        throw new DomainError(
          'concurrent-modification',
          `The provenance key ${predecessorId} was rotated by another request at the same time.`,
        )
      }
      await insertProvenanceKey(tx, {
        key_id: key.keyId,
        name: key.name,
        public_key: Buffer.from(key.publicKey),
        private_key_sealed: privateKeySealed,
        created_at: key.createdAt,
        retired_at: null,
        succession: key.succession ?? null,
      })
      const keys = openKeys(await provenanceKeys(tx), genuine)
      tx.afterCommit(() => cache.set(tx.tenantId, keys))
    },
    async retirePublished(tx, { key, predecessorId }) {
      const retiredAt = formatTimestamp(Date.now())
      await retirePublishedKeys(tx, { logName: key.name, keyId: predecessorId, olderThan: key.createdAt, retiredAt })
    },
    withdraw: (tx, keyId) => retirePublishedKey(tx, keyId, formatTimestamp(Date.now())),
  }
}

async function makeFirstKey(tx: TenantTx, sealingKey: Buffer): Promise<ProvenanceKeyRow> {
  const name = `orghub/log/${randomBytes(16).toString('base64url')}`
  const row = makeProvenanceKeyRow(sealingKey, { tenantId: tx.tenantId, name })
  await insertProvenanceKey(tx, row)
  return { ...row, tenant_id: tx.tenantId }
}

/** Returns the stored keys that the service created. A row that somebody else added neither signs nor verifies. */
function openKeys(rows: readonly ProvenanceKeyRow[], genuine: VerifiedKeys): TenantKeys {
  const made = rows.filter((row) => genuine.open(row) !== undefined)
  const current = made.findLast((row) => row.retired_at === null)
  return { signer: current && genuine.open(current), publicKeys: made.map(publishedKeyOf) }
}
