import { canSee, visibleTypes } from '../../../contract/record-visibility.ts'
import type { TenantTx } from '../../db/database.ts'
import { isErased } from '../../db/record-encryption.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import { cosignOf } from '../../records/record-cosign.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { provenanceHashOf, responseText } from '../../records/record-response.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { findRecord, findRecords } from '../../records/record-store.ts'
import { findPlacesOfEntries, findSealPlace } from './log-entry-records-store.ts'
import type { LogEntryRecords, RecordPlace, Viewer } from './log-entry-records-types.ts'
import { withUnavailable } from './unavailable-content.ts'

export const logEntryRecords: LogEntryRecords = {
  places: (tx, entries, { scopes, now }) =>
    findPlacesOfEntries(tx, entries, { recordTypes: visibleTypes(scopes), now }),

  async answers(tx, places, { now }) {
    const ids = places.filter((place) => !place.erased).map((place) => place.recordId)
    const records = await findRecords(tx, ids, now)
    const readable = records.filter((record) => !isErased(tx, record.canonical))
    const yieldIfLong = createEventLoopYielder()
    const answers = new Map<string, string>()
    for (const record of readable) {
      answers.set(record.record_id, responseText(tx.tenantId, record))
      await yieldIfLong()
    }
    return answers
  },

  sealPlaceOf: (tx, recordId, { scopes }) => findSealPlace(tx, recordId, visibleTypes(scopes)),

  placeOf: async (tx, recordId, viewer) => toPlace(await findVisible(tx, recordId, viewer)),

  async recordOf(tx, recordId, viewer) {
    const record = await findVisible(tx, recordId, viewer)
    const [answered = record] = await withUnavailable(tx, [record])
    return { place: toPlace(record), json: responseText(tx.tenantId, answered) }
  },
}

async function findVisible(tx: TenantTx, recordId: string, { scopes, now }: Viewer): Promise<StoredRecord> {
  const record = await findRecord(tx, recordId, now)
  if (record === undefined || !canSee(scopes, record.record_type)) throw recordNotFound(recordId)
  return record
}

function toPlace(record: StoredRecord): RecordPlace {
  return {
    sealId: record.seal_id,
    leafIndex: record.leaf_index,
    provenanceHash: provenanceHashOf(record),
    provenanceCosign: cosignOf(record),
  }
}
