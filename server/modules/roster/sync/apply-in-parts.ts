import { DomainError } from '../../../../contract/domain-error.ts'
import { rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Database } from '../../../db/database.ts'
import type { ApplyInParts } from './pull-pages.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import type { SyncRow } from './syncs-store.ts'

/**
 * Applies a page in transactions of bounded size, whatever the directory sends at a time. Where one is refused for what
 * is in it, its halves are tried, down to the entry at fault, which is skipped.
 */
export function createApplyInParts(database: Database): ApplyInParts {
  return async (attempt, page, row) => {
    const apply = (from: number, to: number): Promise<SyncRow> =>
      takeStep(database, attempt, async (tx, each) => {
        await page.apply(tx, each, from, to)
        each.position.startIndex += to - from
      })

    async function applyPart(from: number, to: number): Promise<SyncRow> {
      try {
        return await apply(from, to)
      } catch (error) {
        if (!isRefusal(error)) throw error
        if (to - from === 1) return skipOne(database, attempt)
        const middle = (from + to) >> 1
        await applyPart(from, middle)
        return applyPart(middle, to)
      }
    }

    let last = row
    for (let from = 0; from < page.length; from += rosterPullPageSize) {
      attempt.signal.throwIfAborted()
      last = await applyPart(from, Math.min(from + rosterPullPageSize, page.length))
    }
    return last
  }
}

function skipOne(database: Database, attempt: SyncAttempt): Promise<SyncRow> {
  return takeStep(database, attempt, async (_tx, row) => {
    row.position.skipped += 1
    row.position.startIndex += 1
  })
}

/** For what is in the entries, and not for the database. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status >= 400 && error.status < 500
}
