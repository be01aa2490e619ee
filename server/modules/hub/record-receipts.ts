import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Records } from './hub-types.ts'
import { readRecords } from './record-answer.ts'
import { findRecords, findSeals } from './record-store.ts'

/** Rebuilds what writes were answered with, from what is stored. */
export const readReceipts: Records['receipts'] = async (tx, recordIds) => {
  const rows = await findRecords(tx, recordIds, formatTimestamp(Date.now()))
  const seals = await findSeals(tx, [...new Set(rows.map((row) => row.seal_id))])
  const receipts = new Map(
    readRecords(rows, seals).map(({ row, provenanceHash, provenanceCosign }) => [
      row.record_id,
      { record_id: row.record_id, provenance_hash: provenanceHash, provenance_cosign: provenanceCosign },
    ]),
  )
  return recordIds.flatMap((id) => receipts.get(id) ?? [])
}
