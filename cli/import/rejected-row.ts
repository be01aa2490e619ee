import { isJsonObject, type JsonValue } from '../../provenance/index.ts'
import type { Place } from './place.ts'
import type { FileRow } from './read-rows.ts'

/** A row that was not stored, as the file of rejected rows has it. The event is absent if the row has none. */
export type RejectedRow = Place & { reason: string; event?: JsonValue }

/**
 * Returns the row that a line of a file of rejected rows stands for: its event, or again its reason without one;
 * undefined for any other row.
 */
export function rowToRetry({ place, ...row }: FileRow): FileRow | undefined {
  if (!('members' in row)) return undefined
  const { line, object, reason, event, ...others } = row.members
  const isRejected = typeof (line ?? object) === 'number' && typeof reason === 'string'
  if (!isRejected || Object.keys(others).length > 0) return undefined
  return isJsonObject(event) ? { place, members: event } : { place, reason }
}
