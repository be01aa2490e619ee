import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { fromHex } from '../../../provenance/bytes.ts'
import { keyIdOf } from '../../../provenance/keys.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import { remembered } from '../../remembered.ts'
import { deriveKey, seal, unseal } from '../../secrets/sealing.ts'
import { insertProvenanceKey, insertPublishedKey, type ProvenanceKeyRow, provenanceKeys } from './keys-store.ts'
import type { ProvenanceKeyMaker, ProvenanceKeys, ProvenanceSigner, PublishedKey } from './keys-types.ts'

/** From then on a tenant's keys are read anew beside the answer, and from `staleMs` on before it. */
const refreshMs = 2_500
/** A key that was retired by another process signs on for this long at most; its signatures stay valid all the same. */
const staleMs = 5_000
const tenantsCachedMax = 10_000

interface TenantKeys {
  signer: ProvenanceSigner | undefined
  publicKeys: readonly PublishedKey[]
}

/** The provenance keys of all tenants: the current ones for signing, all of them for verification. */
export function createProvenanceKeys(deps: {
  database: Database
  masterKey: Buffer
}): ProvenanceKeys & ProvenanceKeyMaker {
  const sealingKey = deriveKey(deps.masterKey, 'provenance keys')
  const cache = new LRUCache<string, TenantKeys>({
    max: tenantsCachedMax,
    ttl: refreshMs,
    // Answers from memory while it looks anew.
    allowStale: true,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (tenantId) =>
      deps.database.withTenant(tenantId, async (tx) => openKeys(await provenanceKeys(tx), sealingKey), {
        readOnly: true,
      }),
  })

  const isFresh = (tenantId: string) => cache.getRemainingTTL(tenantId) > refreshMs - staleMs
  const fetchKeys = (tenantId: string) => cache.fetch(tenantId, { allowStale: isFresh(tenantId) })

  /** Another transaction must not be opened inside `tx`, and what is only in it must not be remembered if it fails. */
  async function keysWithin(tx: TenantTx): Promise<TenantKeys> {
    const known = cache.get(tx.tenantId)
    if (known?.signer && isFresh(tx.tenantId)) return known
    const keys = openKeys(await provenanceKeys(tx), sealingKey)
    tx.afterCommit(() => cache.set(tx.tenantId, keys))
    return keys
  }

  return {
    async signerOf(tenantId, tx) {
      const keys = tx ? await keysWithin(tx) : await remembered(cache, tenantId)
      if (keys?.signer) return keys.signer
      cache.delete(tenantId)
      throw new DomainError('internal', 'The tenant has no signing key. Ask the operator to look at the log.', {
        cause: new Error(`tenant ${tenantId} has no active provenance key`),
      })
    },
    async publicKeysOf(tenantId, needed = []) {
      const keys = (await fetchKeys(tenantId))?.publicKeys ?? []
      const known = new Set(keys.map((key) => key.keyId))
      if (needed.every((keyId) => known.has(keyId))) return keys
      return (await cache.fetch(tenantId, { forceRefresh: true, allowStale: false }))?.publicKeys ?? []
    },
    async ensureKey(tx) {
      const existing = (await provenanceKeys(tx)).findLast((row) => row.retired_at === null)
      const key = existing ? published(existing) : await makeKey(tx, sealingKey)
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
        succession: null,
      })
    },
  }
}

async function makeKey(tx: TenantTx, sealingKey: Buffer): Promise<PublishedKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const name = `orghub/log/${randomBytes(16).toString('base64url')}`
  const raw = rawPublicKey(publicKey)
  const keyId = keyIdOf(name, raw, sha256)
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  const row = {
    key_id: keyId,
    name,
    public_key: raw,
    private_key_sealed: seal(sealingKey, pkcs8, contextOf(tx.tenantId, keyId)),
    created_at: formatTimestamp(Date.now()),
    retired_at: null,
    succession: null,
  }
  await insertProvenanceKey(tx, row)
  return { keyId, name, publicKey: raw, createdAt: row.created_at }
}

function openKeys(rows: readonly ProvenanceKeyRow[], sealingKey: Buffer): TenantKeys {
  const current = rows.findLast((row) => row.retired_at === null)
  return { signer: current && signerFrom(current, sealingKey), publicKeys: rows.map(published) }
}

function signerFrom(row: ProvenanceKeyRow, sealingKey: Buffer): ProvenanceSigner {
  const pkcs8 = unseal(sealingKey, row.private_key_sealed, contextOf(row.tenant_id, row.key_id))
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  // A signature that the published half does not verify would condemn honest records.
  if (!rawPublicKey(createPublicKey(privateKey)).equals(row.public_key)) {
    throw new Error(`provenance key ${row.key_id}: its private half does not belong to its public half`)
  }
  return {
    keyId: row.key_id,
    keyIdBytes: fromHex(row.key_id),
    logName: row.name,
    sign: (message) => sign(null, message, privateKey),
  }
}

function published(row: ProvenanceKeyRow): PublishedKey {
  return {
    keyId: row.key_id,
    name: row.name,
    publicKey: row.public_key,
    createdAt: row.created_at,
    ...(row.retired_at === null ? {} : { retiredAt: row.retired_at }),
  }
}

function contextOf(tenantId: string, keyId: string): string {
  return `provenance key ${keyId} of ${tenantId}`
}

function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}
