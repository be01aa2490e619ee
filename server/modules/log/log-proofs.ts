import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { toBase64 } from '../../../provenance/bytes.ts'
import {
  decodeCosign,
  ProvenanceError,
  parseCheckpoint,
  parseRecordHash,
  sealNoteOfRecord,
} from '../../../provenance/index.ts'
import { readTenant } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { LogEntryRecords, RecordPlace } from '../records/log-entry-records-types.ts'
import { explained } from './tenant-logs.ts'
import { readConsistency } from './tree-reading.ts'

/** Provides the signed checkpoint of the log and its proofs. All cover what was committed before the call. */
export type LogProofs = ReturnType<typeof createLogProofs>

export function createLogProofs(deps: Pick<ModuleParts, 'database' | 'logs' | 'clock'> & { records: LogEntryRecords }) {
  const { database, logs, records, clock } = deps
  return {
    async checkpoint(tenant: Tenant) {
      const { checkpoint, treeSize, root } = await logs.integrate(tenant)
      const { timeMicros = 0 } = parseCheckpoint(checkpoint)
      return {
        checkpoint,
        log_name: tenant.logName,
        tree_size: treeSize,
        root_hash: toBase64(root),
        signed_at: formatTimestamp(Math.floor(timeMicros / 1000), timeMicros % 1000),
      }
    },

    /**
     * Returns a consistency proof. Throws DomainError `validation-failed` for sizes beyond the log or in descending
     * order.
     */
    async consistency(tenant: Tenant, { from, to: asked }: { from: number; to?: number | undefined }) {
      const { treeSize } = await logs.integrate(tenant)
      const to = asked ?? treeSize
      if (to > treeSize) throw beyond('to', treeSize)
      if (from > treeSize) throw beyond('from', treeSize)
      if (from > to) throw validationFailed([{ pointer: '/query/from', detail: `must not be greater than to, ${to}` }])
      const { path, fromRoot, toRoot } = await readTenant(database, tenant.slug, (tx) =>
        explained(readConsistency(tx, from, to)),
      )
      return { from, to, from_root: toBase64(fromRoot), to_root: toBase64(toRoot), path: path.map(toBase64) }
    },

    /**
     * Returns an inclusion proof. Throws DomainError `not-found` for a record that the caller cannot read, and for one
     * that is not in the log.
     */
    async inclusion({ tenant, scopes }: Caller, recordId: string) {
      const place = await readTenant(database, tenant.slug, (tx) =>
        records.placeOf(tx, recordId, { scopes, now: clock.next().createdAt }),
      )
      const note = noteOf(tenant, place)
      const { checkpoint, path, ...inclusion } = await proofOf(deps, tenant, recordId, place)
      return {
        record_id: recordId,
        provenance_hash: place.provenanceHash,
        provenance_cosign: place.provenanceCosign,
        seal_id: place.sealId,
        ...(note === undefined ? {} : { seal_note: note }),
        ...inclusion,
        inclusion_path: path,
        checkpoint,
      }
    },
  }
}

/**
 * Returns the inclusion proof of a record's seal and the checkpoint that it leads to. Throws DomainError `not-found` if
 * the seal is not in the log.
 */
export async function proofOf(
  { database, logs }: Pick<ModuleParts, 'database' | 'logs'>,
  tenant: Tenant,
  recordId: string,
  { sealId }: RecordPlace,
) {
  const { treeSize, checkpoint } = await logs.integrate(tenant)
  return readTenant(database, tenant.slug, async (tx) => {
    const entry = await logs.entryOf(tx, sealId)
    if (entry === undefined || entry.logIndex >= treeSize) throw notInLog(recordId)
    const { logIndex } = entry
    const [leaf] = await logs.leaves(tx, logIndex, logIndex + 1)
    const path = await logs.inclusionPath(tx, logIndex, treeSize)
    return {
      log_index: logIndex,
      tree_size: treeSize,
      leaf_hash: toBase64(leaf!),
      path: path.map(toBase64),
      checkpoint,
    }
  })
}

/** Returns the note of the record's seal; undefined if the seal was edited so that it has none. */
export function noteOf({ logName }: Tenant, { provenanceHash, provenanceCosign }: RecordPlace): string | undefined {
  try {
    const hash = parseRecordHash(provenanceHash)
    return sealNoteOfRecord(logName, decodeCosign(provenanceCosign), hash, nodeCrypto.sha256)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

export function beyond(parameter: 'from' | 'to' | 'consistency_from', treeSize: number): DomainError {
  const detail = `is beyond the end of the log, which has ${treeSize} entries`
  return validationFailed([{ pointer: `/query/${parameter}`, detail }])
}

function notInLog(recordId: string): DomainError {
  return new DomainError(
    'not-found',
    `The log of this tenant has no entry for the seal of record ${recordId}, so nothing proves its time. Verify the record, and inform the operator.`,
  )
}
