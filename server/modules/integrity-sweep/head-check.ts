import { equalBytes } from '../../../provenance/bytes.ts'
import {
  type Checkpoint,
  joinRoots,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  verifyNoteSync,
} from '../../../provenance/index.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import type { KeptCheckpoints, LogHead, TenantLogs } from '../log/log-types.ts'
import { listed } from './finding.ts'
import { isLogCorruption } from './log-corruption.ts'
import type { Finding, SweepCheck } from './sweep-types.ts'

/** Number of earlier checkpoints that are compared besides the newest. They vary, so that in time all are compared. */
const earlierCompared = 8

interface HeadRead {
  head: LogHead | undefined
  /** Log indexes of entries that the head does not cover. */
  beyond: number[]
  /** The roots of the log at the sizes of the stored checkpoints; undefined if they cannot be computed. */
  rootsThen: (Uint8Array | undefined)[]
}

/**
 * Checks the head of a log: its signature, that nothing follows it, and its consistency with the newest checkpoint
 * stored outside of the database and some earlier ones.
 */
export function createHeadCheck(deps: {
  database: Database
  logs: TenantLogs
  keys: ProvenanceKeys
  keptCheckpoints: KeptCheckpoints | undefined
}) {
  const { database, logs, keys, keptCheckpoints } = deps

  async function read(tx: TenantTx, keptSizes: readonly number[]): Promise<HeadRead> {
    const head = await logs.head(tx)
    const treeSize = head?.treeSize ?? 0
    const beyond = (await logs.entries(tx, treeSize, 10)).map((entry) => entry.logIndex)
    const rootsThen: HeadRead['rootsThen'] = []
    for (const size of keptSizes) rootsThen.push(size >= 1 && size <= treeSize ? await rootAt(tx, size) : undefined)
    return { head, beyond, rootsThen }
  }

  async function rootAt(tx: TenantTx, size: number): Promise<Uint8Array | undefined> {
    try {
      const { left } = await logs.rangeProof(tx, size, size, size)
      return joinRoots(left, nodeCrypto.sha256)
    } catch (error) {
      if (isLogCorruption(error) || error instanceof ProvenanceError) return undefined
      throw error
    }
  }

  /** Returns the note as a signed checkpoint of this log; undefined for any other note. */
  async function signedCheckpoint(tenant: Tenant, note: string): Promise<Checkpoint | undefined> {
    try {
      const parsed = parseNote(note)
      const checkpoint = parseCheckpoint(note)
      if (checkpoint.logName !== tenant.logName) return undefined
      const isSigned = (some: readonly { name: string; publicKey: Uint8Array }[]) =>
        verifyNoteSync(parsed, some, nodeCrypto)
      if (isSigned(await keys.publicKeysOf(tenant.slug))) return checkpoint
      // Another process may have just created a key: an id that no key has forces a reload of all.
      return isSigned(await keys.publicKeysOf(tenant.slug, [''])) ? checkpoint : undefined
    } catch (error) {
      if (error instanceof ProvenanceError) return undefined
      throw error
    }
  }

  return async (tenant: Tenant): Promise<Finding[]> => {
    // Read before the head, so that the head is at least as new.
    const newest = await keptCheckpoints?.newest(tenant.logName)
    const kept = newest ? [newest, ...(await keptCheckpoints!.some(tenant.logName, earlierCompared))] : []
    const sizes = kept.map(({ treeSize }) => treeSize)
    const { head, beyond, rootsThen } = await database.withTenant(tenant.slug, (tx) => read(tx, sizes), {
      readOnly: true,
      snapshot: true,
    })
    const checks: SweepCheck[] = []
    const found: Finding['found'] = { tree_size: head?.treeSize ?? 0 }
    if (head === undefined) {
      if (beyond.length > 0 || newest) checks.push('log_head_present')
    } else {
      const signed = await signedCheckpoint(tenant, head.checkpoint)
      const agrees = signed?.treeSize === head.treeSize && equalBytes(signed.root, head.root)
      if (!agrees) checks.push('log_head_signed')
    }
    if (beyond.length > 0) {
      checks.push('log_entries_complete')
      Object.assign(found, listed('beyond_head', beyond))
    }
    const failed = new Set<SweepCheck>()
    for (const [at, { checkpoint }] of kept.entries()) {
      const signed = await signedCheckpoint(tenant, checkpoint)
      const rootThen = rootsThen[at]
      if (signed === undefined) failed.add('kept_checkpoint_signed')
      else if (signed.treeSize > 0 && !(rootThen !== undefined && equalBytes(rootThen, signed.root))) {
        failed.add('log_continues_kept_checkpoint')
        // The smallest known tree size of the lost history.
        found.kept_tree_size = Math.min(signed.treeSize, Number(found.kept_tree_size ?? signed.treeSize))
      }
    }
    checks.push(...failed)
    if (newest) found.kept_tree_size ??= newest.treeSize
    return checks.length === 0 ? [] : [{ subject: `log:${tenant.logName}`, failedChecks: checks, found }]
  }
}
