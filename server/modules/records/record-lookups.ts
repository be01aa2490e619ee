import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { cosignOf } from '../../records/record-cosign.ts'
import { parseCanonical, provenanceHashOf } from '../../records/record-response.ts'
import { findPlaces, findRecordIds, findRecords } from '../../records/record-store.ts'
import type { ReadableRecords, Records } from './records-types.ts'

/** Bounds the memory and the time of one statement. */
const idsPerStatement = 10_000

export function missingRecords(clock: RecordClock): Records['missing'] {
  return async (tx, recordIds) => {
    const missing = new Set(recordIds)
    const ids = [...missing]
    for (let at = 0; at < ids.length; at += idsPerStatement) {
      const found = await findRecordIds(tx, ids.slice(at, at + idsPerStatement), clock.next().createdAt)
      for (const id of found) missing.delete(id)
    }
    return missing
  }
}

/** Rebuilds the responses to writes from stored values. */
export const readReceipts: Records['receipts'] = async (tx, recordIds) => {
  const places = await findPlaces(tx, recordIds, formatTimestamp(Date.now()))
  const receipts = new Map(
    places.map((place) => [
      place.record_id,
      {
        record_id: place.record_id,
        provenance_hash: provenanceHashOf(place),
        provenance_cosign: cosignOf(place),
      },
    ]),
  )
  return recordIds.flatMap((id) => receipts.get(id) ?? [])
}

export const readableRecords: ReadableRecords = async (tx, recordIds) => {
  const found = await findRecords(tx, recordIds, formatTimestamp(Date.now()))
  return new Map(
    found.flatMap((record) => {
      const members = record.purged_at === null ? parseCanonical(record.canonical) : undefined
      return members ? [[record.record_id, { members, provenanceHash: provenanceHashOf(record) }] as const] : []
    }),
  )
}
