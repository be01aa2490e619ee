import type { RecordClock } from '../../../records/record-clock.ts'
import { findRecordIds } from '../../../records/record-store.ts'
import type { Records } from '../hub-types.ts'

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
