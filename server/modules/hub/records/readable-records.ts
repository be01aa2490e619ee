import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { parseCanonical, provenanceHashOf } from '../../../records/record-response.ts'
import { findRecords } from '../../../records/record-store.ts'
import type { ReadableRecords } from '../hub-types.ts'

export const readableRecords: ReadableRecords = async (tx, recordIds) => {
  const found = await findRecords(tx, recordIds, formatTimestamp(Date.now()))
  return new Map(
    found.flatMap((record) => {
      const members = record.purged_at === null ? parseCanonical(record.canonical) : undefined
      return members ? [[record.record_id, { members, provenanceHash: provenanceHashOf(record) }] as const] : []
    }),
  )
}
