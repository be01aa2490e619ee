import { answerText } from './record-answer.ts'
import type { StoredSeal } from './record-query-types.ts'
import { findRecordsOfEntries } from './sealed-records-store.ts'
import type { SealedRecords, SealedRow } from './sealed-records-types.ts'

export const sealedRecords: SealedRecords = {
  ofEntries: findRecordsOfEntries,
  answers: (tenantId, { records, seals }) =>
    records.map((record) => answerText(tenantId, { ...record, ...placeIn(seals.get(record.seal_id), record) })),
}

function placeIn(seal: StoredSeal | undefined, record: SealedRow) {
  if (seal === undefined) {
    return { key_id: null, sealed_at: null, leaves_bytes: null, cosign_parts: null, leaves: null }
  }
  const { key_id, sealed_at, leaves, signature } = seal
  const cosign_parts = Buffer.concat([Buffer.from(record.salt, 'hex'), signature])
  return { key_id, sealed_at, leaves_bytes: leaves.length, cosign_parts, leaves }
}
