import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { getOrFetch } from '../../cached-fetch.ts'
import { type Database, type RegistryTx, readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import {
  insertProvenanceKey,
  insertPublishedKey,
  provenanceKeys,
  retireProvenanceKey,
  retirePublishedKey,
  retirePublishedKeys,
} from './keys-store.ts'
import type {
  ProvenanceKeyAudit,
  ProvenanceKeyMaker,
  ProvenanceKeys,
  ProvenanceSigner,
  PublishedKey,
} from './keys-types.ts'
import { makeProvenanceKeyRow, publishedKeyOf, rowOf, VerifiedKeys } from './provenance-key.ts'
import { auditKeys } from './provenance-key-audit.ts'

/** Milliseconds after which a tenant's keys are read again in the background; after `staleMs`, callers wait for it. */
const refreshMs = 2_500
/** Maximum time in milliseconds that a key retired by another process still signs. Its signatures remain valid. */
const staleMs = 5_000
const tenantsCachedMax = 10_000

interface TenantKeys {
  signer: ProvenanceSigner | undefined
  publicKeys: readonly PublishedKey[]
}

/** A new key of a tenant that is not stored yet, and the key that signed its introduction. */
interface SuccessorKey {
  key: PublishedKey
  predecessorId: string
  /** Encrypted under the master key. */
  privateKeySealed: Buffer
}

/** Provides the provenance keys of all tenants: the current ones for signing, all of them for verification. */
export class ProvenanceKeyRing implements ProvenanceKeys, ProvenanceKeyMaker, ProvenanceKeyAudit {
  readonly #database: Database
  readonly #sealingKey: Buffer
  readonly #genuine: VerifiedKeys
  readonly #cache: LRUCache<string, TenantKeys>

  constructor({ database, masterKey }: Pick<ModuleParts, 'database' | 'masterKey'>) {
    this.#database = database
    this.#sealingKey = deriveKey(masterKey, 'provenance keys')
    this.#genuine = new VerifiedKeys(this.#sealingKey)
    this.#cache = new LRUCache<string, TenantKeys>({
      max: tenantsCachedMax,
      ttl: refreshMs,
      // Returns cached keys during a refresh.
      allowStale: true,
      noDeleteOnStaleGet: true,
      noDeleteOnFetchRejection: true,
      // A caller that waits for a fetch gets its result, even if a transaction has stored something newer meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: (tenantId) => readTenant(database, tenantId, (tx) => this.#read(tx)),
    })
  }

  async signerOf(tenantId: string, tx?: TenantTx): Promise<ProvenanceSigner> {
    const keys = tx ? await this.#keysWithin(tx) : await getOrFetch(this.#cache, tenantId)
    if (!keys?.signer) this.#cache.delete(tenantId)
    return requireSigner(tenantId, keys)
  }

  async publicKeysOf(
    tenantId: string,
    needed: readonly string[] = [],
    tx?: TenantTx,
  ): Promise<readonly PublishedKey[]> {
    if (tx) return this.#publicKeysWithin(tx, needed)
    const fetched = await this.#cache.fetch(tenantId, { allowStale: this.#isFresh(tenantId) })
    const keys = fetched?.publicKeys ?? []
    if (hasAll(keys, needed)) return keys
    return (await this.#cache.fetch(tenantId, { forceRefresh: true, allowStale: false }))?.publicKeys ?? []
  }

  auditKeys(log: Pick<Tenant, 'slug' | 'logName'>) {
    return auditKeys(this.#database, this.#genuine, log)
  }

  async ensureKey(tx: TenantTx): Promise<PublishedKey> {
    const existing = (await provenanceKeys(tx)).findLast(
      (row) => row.retired_at === null && this.#genuine.open(row) !== undefined,
    )
    const key = publishedKeyOf(existing ?? (await this.#makeFirstKey(tx)))
    tx.afterCommit(() => this.#cache.delete(tx.tenantId))
    return key
  }

  async publish(tx: RegistryTx, key: PublishedKey): Promise<void> {
    await insertPublishedKey(tx, rowOf(key))
  }

  /** Creates a key that the tenant's current one introduces. Stores nothing. */
  async prepareSuccessor(tenantId: string): Promise<SuccessorKey> {
    // Not from the cache: two rotations must create two keys.
    const keys = await readTenant(this.#database, tenantId, (tx) => this.#read(tx))
    const predecessor = requireSigner(tenantId, keys)
    const row = makeProvenanceKeyRow(this.#sealingKey, { tenantId, name: predecessor.logName }, predecessor)
    return { key: publishedKeyOf(row), predecessorId: predecessor.keyId, privateKeySealed: row.private_key_sealed }
  }

  /**
   * Stores the key and retires its predecessor. This process signs with it after the commit, other processes within
   * five seconds.
   *
   * @throws DomainError `concurrent-modification` if another key has replaced the predecessor meanwhile
   */
  async succeed(tx: TenantTx, { key, predecessorId, privateKeySealed }: SuccessorKey): Promise<void> {
    if (!(await retireProvenanceKey(tx, predecessorId, key.createdAt))) {
      throw new DomainError(
        'concurrent-modification',
        `The provenance key ${predecessorId} was rotated by another request at the same time.`,
      )
    }
    await insertProvenanceKey(tx, { ...rowOf(key), private_key_sealed: privateKeySealed })
    const keys = await this.#read(tx)
    tx.afterCommit(() => this.#cache.set(tx.tenantId, keys))
  }

  /** Marks the predecessor and older published keys of the log as retired, but no key that has replaced this one since. */
  async retirePublished(tx: RegistryTx, { key, predecessorId }: SuccessorKey): Promise<void> {
    const retiredAt = formatTimestamp(Date.now())
    await retirePublishedKeys(tx, { logName: key.name, keyId: predecessorId, olderThan: key.createdAt, retiredAt })
  }

  /** Marks a published key that never signed anything as retired; compare {@link retirePublished}. */
  async withdraw(tx: RegistryTx, keyId: string): Promise<void> {
    await retirePublishedKey(tx, keyId, formatTimestamp(Date.now()))
  }

  #isFresh(tenantId: string): boolean {
    return this.#cache.getRemainingTTL(tenantId) > refreshMs - staleMs
  }

  /** Reads the keys that the service created. A row that somebody else added neither signs nor verifies. */
  async #read(tx: TenantTx): Promise<TenantKeys> {
    const made = (await provenanceKeys(tx)).filter((row) => this.#genuine.open(row) !== undefined)
    const current = made.findLast((row) => row.retired_at === null)
    return { signer: current && this.#genuine.open(current), publicKeys: made.map(publishedKeyOf) }
  }

  /**
   * Returns the keys inside `tx`, because no other transaction may be opened meanwhile. Caches them only after the
   * commit, because `tx` may fail.
   */
  async #keysWithin(tx: TenantTx): Promise<TenantKeys> {
    const known = this.#cache.get(tx.tenantId)
    if (known?.signer && this.#isFresh(tx.tenantId)) return known
    const keys = await this.#read(tx)
    tx.afterCommit(() => this.#cache.set(tx.tenantId, keys))
    return keys
  }

  async #publicKeysWithin(tx: TenantTx, needed: readonly string[]): Promise<readonly PublishedKey[]> {
    const known = this.#cache.get(tx.tenantId)?.publicKeys ?? []
    return hasAll(known, needed) ? known : (await this.#read(tx)).publicKeys
  }

  async #makeFirstKey(tx: TenantTx) {
    const name = `orghub/log/${randomBytes(16).toString('base64url')}`
    const row = makeProvenanceKeyRow(this.#sealingKey, { tenantId: tx.tenantId, name })
    await insertProvenanceKey(tx, row)
    return row
  }
}

function hasAll(keys: readonly PublishedKey[], needed: readonly string[]): boolean {
  const known = new Set(keys.map((key) => key.keyId))
  return needed.every((keyId) => known.has(keyId))
}

function requireSigner(tenantId: string, keys: TenantKeys | undefined): ProvenanceSigner {
  if (keys?.signer) return keys.signer
  throw new DomainError('internal', 'The tenant has no signing key. Ask the operator to check the log.', {
    cause: new Error(`tenant ${tenantId} has no active provenance key`),
  })
}
