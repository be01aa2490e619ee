import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { cosignOf } from '../../../records/record-cosign.ts'
import { provenanceHashOf } from '../../../records/record-response.ts'
import { findPlaces } from '../../../records/record-store.ts'
import type { Records } from '../hub-types.ts'

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
