import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database } from '../../../db/database.ts'
import type { PreparedPart } from './pull-pages.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import { noteSkipped } from './sync-state.ts'
import type { SyncRow } from './syncs-store.ts'

/**
 * Applies a part of a page in one transaction. If the content is rejected, tries its halves, down to the faulty entry,
 * which it skips. Returns the updated row.
 */
export function applyBisecting(
  database: Database,
  attempt: SyncAttempt,
  part: PreparedPart,
  from = 0,
  to = part.length,
): Promise<SyncRow> {
  const applied = takeStep(database, attempt, async (tx, row) => {
    await part.apply(tx, row, from, to)
    row.position.startIndex += to - from
  })
  return applied.catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error
    if (to - from <= 1) return skipOne(database, attempt, part.resource)
    const middle = (from + to) >> 1
    await applyBisecting(database, attempt, part, from, middle)
    return applyBisecting(database, attempt, part, middle, to)
  })
}

function skipOne(database: Database, attempt: SyncAttempt, resource: PreparedPart['resource']): Promise<SyncRow> {
  return takeStep(database, attempt, async (_tx, row) => {
    const reason = 'was refused when it was to be kept'
    noteSkipped(row.position, { resource, place: row.position.startIndex, reason })
    row.position.startIndex += 1
  })
}

/** Returns whether the error concerns the entries and not the database. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status >= 400 && error.status < 500
}
