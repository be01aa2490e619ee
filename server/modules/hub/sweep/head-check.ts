import { equalBytes } from '../../../../provenance/bytes.ts'
import {
  type Checkpoint,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  rootOfRange,
  verifyNoteSync,
} from '../../../../provenance/index.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import type { KeptCheckpoints, LogHead, TenantLogs } from '../../log/log-types.ts'
import { nodeCrypto } from '../node-crypto.ts'
import { type Finding, listed, type SweepCheck } from './finding.ts'
import { isLogDamage } from './log-damage.ts'

interface HeadRead {
  head: LogHead | undefined
  /** Places of entries that the head does not cover. */
  beyond: number[]
  /** The root of the log when it had the size of the kept checkpoint; undefined where it cannot be told. */
  rootThen: Uint8Array | undefined
}

/**
 * Checks the head of a log: its signature, that nothing lies beyond it, and that it continues the newest state that was
 * kept outside of the database.
 */
export function createHeadCheck(deps: {
  database: Database
  logs: TenantLogs
  keys: ProvenanceKeys
  keptCheckpoints: KeptCheckpoints | undefined
}) {
  const { database, logs, keys, keptCheckpoints } = deps

  async function read(tx: TenantTx, keptSize: number): Promise<HeadRead> {
    const head = await logs.head(tx)
    const treeSize = head?.treeSize ?? 0
    const beyond = (await logs.entries(tx, treeSize, 10)).map((entry) => entry.logIndex)
    const canTell = keptSize >= 1 && keptSize <= treeSize
    return { head, beyond, rootThen: canTell ? await rootAt(tx, keptSize) : undefined }
  }

  /** The last leaf of then, and the complete subtrees before it. */
  async function rootAt(tx: TenantTx, size: number): Promise<Uint8Array | undefined> {
    try {
      const leaves = await logs.leaves(tx, size - 1, size)
      const { left, right } = await logs.rangeProof(tx, size - 1, size, size)
      return rootOfRange(size - 1, leaves, left, right, size, nodeCrypto.sha256)
    } catch (error) {
      if (isLogDamage(error) || error instanceof ProvenanceError) return undefined
      throw error
    }
  }

  /** As a signed checkpoint of this log; undefined for anything else. */
  async function signedCheckpoint(tenant: Tenant, note: string): Promise<Checkpoint | undefined> {
    try {
      const parsed = parseNote(note)
      const checkpoint = parseCheckpoint(note)
      if (checkpoint.logName !== tenant.logName) return undefined
      const isSigned = (some: readonly { name: string; publicKey: Uint8Array }[]) =>
        verifyNoteSync(parsed, some, nodeCrypto)
      if (isSigned(await keys.publicKeysOf(tenant.slug))) return checkpoint
      // Another process may have made a key just now: with an id that no key has, all are read anew.
      return isSigned(await keys.publicKeysOf(tenant.slug, [''])) ? checkpoint : undefined
    } catch (error) {
      if (error instanceof ProvenanceError) return undefined
      throw error
    }
  }

  return async (tenant: Tenant): Promise<Finding[]> => {
    // Before the head, which is at least as new then.
    const kept = await keptCheckpoints?.newest(tenant.logName)
    const { head, beyond, rootThen } = await database.withTenant(tenant.slug, (tx) => read(tx, kept?.treeSize ?? 0), {
      readOnly: true,
      snapshot: true,
    })
    const checks: SweepCheck[] = []
    const found: Finding['found'] = { tree_size: head?.treeSize ?? 0 }
    if (head === undefined) {
      if (beyond.length > 0 || kept) checks.push('log_head_present')
    } else {
      const signed = await signedCheckpoint(tenant, head.checkpoint)
      const agrees = signed?.treeSize === head.treeSize && equalBytes(signed.root, head.root)
      if (!agrees) checks.push('log_head_signed')
    }
    if (beyond.length > 0) {
      checks.push('log_entries_complete')
      Object.assign(found, listed('beyond_head', beyond))
    }
    if (kept) {
      const signed = await signedCheckpoint(tenant, kept.checkpoint)
      const continues =
        signed === undefined || signed.treeSize === 0 || (rootThen !== undefined && equalBytes(rootThen, signed.root))
      if (signed === undefined) checks.push('kept_checkpoint_signed')
      if (!continues) checks.push('log_continues_kept_checkpoint')
      found.kept_tree_size = kept.treeSize
    }
    return checks.length === 0 ? [] : [{ subject: `log:${tenant.logName}`, failedChecks: checks, found }]
  }
}
