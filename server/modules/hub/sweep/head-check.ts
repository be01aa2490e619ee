import { equalBytes } from '../../../../provenance/bytes.ts'
import {
  type Checkpoint,
  joinRoots,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  verifyNoteSync,
} from '../../../../provenance/index.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import type { KeptCheckpoints, LogHead, TenantLogs } from '../../log/log-types.ts'
import { nodeCrypto } from '../node-crypto.ts'
import { type Finding, listed, type SweepCheck } from './finding.ts'
import { isLogCorruption } from './log-corruption.ts'

/** Besides the newest; in time all are. */
const earlierCompared = 8

interface HeadRead {
  head: LogHead | undefined
  /** Places of entries that the head does not cover. */
  beyond: number[]
  /** The roots of the log when it had the sizes of the kept checkpoints; undefined where they cannot be told. */
  rootsThen: (Uint8Array | undefined)[]
}

/**
 * Checks the head of a log: its signature, that nothing lies beyond it, and that it continues the newest state that was
 * kept outside of the database, and some of those before.
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
        // The first state of the history that is no more, as far as it is known.
        found.kept_tree_size = Math.min(signed.treeSize, Number(found.kept_tree_size ?? signed.treeSize))
      }
    }
    checks.push(...failed)
    if (newest) found.kept_tree_size ??= newest.treeSize
    return checks.length === 0 ? [] : [{ subject: `log:${tenant.logName}`, failedChecks: checks, found }]
  }
}
