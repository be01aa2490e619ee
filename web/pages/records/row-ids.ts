import type { HubRecord } from '../../api/hub-record.ts'

/**
 * Returns a function that identifies rows by their record ids. A dishonest Hub may return one twice, and both are
 * shown.
 */
export function rowIdsOf(rows: readonly HubRecord[]): (row: HubRecord) => string {
  const seen = new Set<string>()
  const again = new Map<HubRecord, string>()
  for (const [index, row] of rows.entries()) {
    if (seen.has(row.record_id)) again.set(row, `${row.record_id} again at ${index}`)
    seen.add(row.record_id)
  }
  return (row) => again.get(row) ?? row.record_id
}
