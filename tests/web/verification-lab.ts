import { toBase64 } from '../../provenance/bytes.ts'
import {
  checkpointText,
  consistencyPath,
  formatRecordHash,
  inclusionPath,
  type JsonObject,
  type JsonValue,
  keyDocumentEntry,
  logLeafHash,
  merkleRoot,
  signedNote,
  successionNote,
} from '../../provenance/index.ts'
import { cryptoOf } from '../../web/verification/browser-crypto.ts'
import type { Store } from '../../web/verification/trust-store.ts'
import type { Source, Verifier } from '../../web/verification/verify-record.ts'
import { type LoggedSeal, sealedLog } from '../provenance/export-lab.ts'
import { firstKey, type LogKey } from '../provenance/fixtures.ts'
import { sha256 } from '../provenance/node-crypto.ts'

/** A Hub of a few seals that may lie: what it answers can be replaced member by member. */
export interface SmallHub extends Source {
  /** The record of a seal and leaf, as the API answers it. Proofs are had of records that were asked for. */
  record(entry: number, leaf?: number): JsonObject
  size: number
  log: readonly LoggedSeal[]
}

export function smallHub({
  key = firstKey,
  keys = [key],
  log = sealedLog([3, 1, 5, 2, 4], key),
  size = log.length,
  signer = key,
}: {
  key?: LogKey
  keys?: readonly LogKey[]
  log?: readonly LoggedSeal[]
  size?: number
  signer?: LogKey
} = {}): SmallHub {
  const leaves = log.map(({ note }) => logLeafHash(note, sha256))
  const entries = new Map<string, number>()
  const hub: SmallHub = {
    log,
    size,
    record(entry, leaf = 0) {
      const { texts, sealed } = log[entry]!
      const members = { is_purged: false, provenance_hash: formatRecordHash(sealed.hashes[leaf]!) }
      const record = JSON.parse(texts[leaf]!)
      entries.set(record.record_id, entry)
      return { ...record, ...members, provenance_cosign: sealed.items[leaf]!.cosign }
    },
    keyDocument: async () => ({ keys: keys.map((each) => keyDocumentEntry(each, sha256)) }) as unknown as JsonValue,
    logName: async () => key.name,
    async checkpoint() {
      const root = merkleRoot(leaves.slice(0, hub.size), sha256)
      const text = checkpointText({ logName: key.name, treeSize: hub.size, root, timeMicros: 1_767_323_099_000_000 })
      const signature = signer.sign(new TextEncoder().encode(text))
      return signedNote(text, key.name, signer.keyId, signature)
    },
    consistency: async (from, to) => consistencyPath(leaves.slice(0, to), from, sha256).map(toBase64),
    async proof(recordId) {
      const log_index = entries.get(recordId)
      if (log_index === undefined || log_index >= hub.size) return { missing: 'no-entry', because: 'not in the log' }
      const inclusion_path = inclusionPath(leaves.slice(0, hub.size), log_index, sha256).map(toBase64)
      return { proof: { log_index, tree_size: hub.size, inclusion_path, checkpoint: await hub.checkpoint() } }
    },
  }
  return hub
}

/** A browser with a memory of its own. */
export function storeOf(): Store & { kept: Map<string, string> } {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  }
}

export async function browserOf(source: Source, store: Store = storeOf()): Promise<Verifier> {
  return { tenant: 'acme', source, store, crypto: await cryptoOf(globalThis.crypto.subtle) }
}

/** A key that another one introduces. */
export function introduced(next: LogKey, from: LogKey): LogKey {
  const statement = { logName: from.name, fromKeyId: from.keyId, to: next, timeMicros: 1_767_323_050_000_000 }
  return { ...next, succession: successionNote(statement, { sha256, sign: from.sign }) }
}
