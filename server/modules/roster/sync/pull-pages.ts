import { DomainError } from '../../../../contract/domain-error.ts'
import {
  rosterPullEntriesMax,
  rosterPullPageBytesMax,
  rosterPullPageEntriesMax,
  rosterPullPageSize,
} from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { ScimPage } from '../../identity/scim/scim-source-types.ts'
import { requestSource, type SyncAttempt, TimeSliceEnded, takeStep } from './sync-attempt.ts'
import { clearSkipped, noteSkipped, SyncFailed, type SyncPosition } from './sync-state.ts'
import type { SyncRow } from './syncs-store.ts'

const passesMax = 3

/** Approximate bytes of entries per transaction; one transaction for all would block everybody else. */
const partBytes = 256 * 1024

/** Handles one kind of entry; paging is common to all. */
export interface PulledKind {
  resource: 'Users' | 'Groups'
  /** Reads the first entries of a page, possibly all, and fetches missing parts. */
  prepare(attempt: SyncAttempt, resources: readonly unknown[], position: SyncPosition): Promise<PreparedPart>
  /** Returns a substitute for the first page if the directory has no such list. Throws {@link SyncFailed}. */
  absent?(attempt: SyncAttempt): ScimPage
  /** Returns the number of entries of this kind seen so far. */
  metOf(position: SyncPosition): number
  /** Sets the next phase once every page is read. */
  finish(position: SyncPosition): void
}

/** Entries of a page, starting at the first unapplied one. */
export interface PreparedPart {
  resource: PulledKind['resource']
  /** Number of entries, usable or not; at least one. */
  length: number
  /**
   * Applies the entries from..to of the part and updates the counts of the row. Throws DomainError if one is rejected.
   */
  apply(tx: TenantTx, row: SyncRow, from: number, to: number): Promise<void>
}

/**
 * Reads one page, applies it and returns the updated row. Throws {@link TimeSliceEnded} in the middle of a long page.
 */
export async function pullPage(
  database: Database,
  kind: PulledKind,
  attempt: SyncAttempt,
  row: SyncRow,
): Promise<SyncRow> {
  const { position } = row
  const page = await askForPage(kind, attempt, position)
  if (page === undefined) return takeStep(database, attempt, async (_tx, each) => askForLess(kind, each.position))
  const { resources } = page
  const place = `GET /${kind.resource}: with startIndex=${position.startIndex}`
  if (resources.length > rosterPullPageEntriesMax) {
    throw new SyncFailed(
      `${place} and count=${position.count} the directory answered ${resources.length} entries, and the Hub takes ` +
        `${rosterPullPageEntriesMax} at most: it does not page as RFC 7644, section 3.4.2.4 says.`,
    )
  }
  const partLength = lengthOfPart(page)
  let applied = row
  for (let from = 0; from < resources.length; ) {
    if (from > 0 && attempt.turn.isOver()) throw new TimeSliceEnded()
    attempt.signal.throwIfAborted()
    const part = await kind.prepare(attempt, resources.slice(from, from + partLength), applied.position)
    applied = await applyBisecting(database, attempt, part)
    from += part.length
  }
  const isStuck =
    position.pass === 1 &&
    position.startIndex > 1 &&
    resources.length > 0 &&
    kind.metOf(applied.position) === kind.metOf(position)
  if (isStuck && applied.position.skipped === position.skipped) {
    throw new SyncFailed(
      `${place} the directory answered only entries that it had answered before: it does not page as RFC 7644, ` +
        'section 3.4.2.4 says.',
    )
  }
  return takeStep(database, attempt, async (_tx, each) => turnPage(kind, each, page))
}

function lengthOfPart({ resources, bytes }: ScimPage): number {
  return Math.max(1, Math.min(rosterPullPageSize, Math.floor((partBytes * resources.length) / bytes)))
}

/** Returns undefined if the response is too large. */
async function askForPage(
  kind: PulledKind,
  attempt: SyncAttempt,
  position: SyncPosition,
): Promise<ScimPage | undefined> {
  const { startIndex, count, pass } = position
  const withoutMembers = kind.resource === 'Groups' && position.membersApart
  const query = { startIndex, count, withoutMembers }
  const answer = await requestSource(attempt, position, (signal) => attempt.source!.page(kind.resource, query, signal))
  if (answer.ok) return answer.value
  const { problem } = answer
  if (problem.kind === 'too-large') return undefined
  if (problem.status === 404 && startIndex === 1 && pass === 1 && kind.absent) return kind.absent(attempt)
  throw new SyncFailed(problem.detail)
}

/** Reduces the page size after a response that was too large. */
function askForLess(kind: PulledKind, position: SyncPosition): void {
  if (position.count > 1) {
    position.count = Math.ceil(position.count / 4)
  } else if (kind.resource === 'Groups' && !position.membersApart) {
    position.membersApart = true
    position.count = rosterPullPageSize
  } else {
    const place = `GET /${kind.resource}?startIndex=${position.startIndex}&count=1`
    throw new SyncFailed(
      `${place}: the answer about one entry is larger than the Hub takes (${rosterPullPageBytesMax} bytes), or the ` +
        'directory leaves `count` aside.',
    )
  }
}

/** Moves on to the next page, pass or phase. */
function turnPage(kind: PulledKind, row: SyncRow, page: ScimPage): void {
  const { position } = row
  const total = page.totalResults
  const earlier = position.users + position.groups + position.usersSkipped
  if (kind.metOf(position) > rosterPullEntriesMax) {
    throw new SyncFailed(`The directory has more than ${rosterPullEntriesMax} ${kind.resource.toLowerCase()}.`)
  }
  const hasShrunk = total !== undefined && total < position.totalMax
  if (hasShrunk) position.isDoubtful = true
  position.totalMax = Math.max(position.totalMax, total ?? 0)
  if (total !== undefined) row.total = kind.resource === 'Users' ? total : earlier - position.groups + total
  const isLast = page.resources.length === 0 || (total !== undefined && position.startIndex > total)
  if (!isLast) return

  const isShort = total !== undefined && kind.metOf(position) + position.skipped < total
  const changes = isShort || (position.isDoubtful && position.pass === 1)
  const mayHelp = position.pass === 1 || position.fresh > 0
  position.isDoubtful = isShort
  if (changes && mayHelp && position.pass < passesMax) {
    Object.assign(position, { startIndex: 1, pass: position.pass + 1, totalMax: 0, fresh: 0 })
    clearSkipped(position, kind.resource)
    return
  }
  kind.finish(position)
}

/**
 * Applies a part of a page in one transaction. If the content is rejected, tries its halves, down to the faulty entry,
 * which it skips. Returns the updated row.
 */
function applyBisecting(
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
    const reason = 'could not be stored'
    noteSkipped(row.position, { resource, place: row.position.startIndex, reason })
    row.position.startIndex += 1
  })
}

/** Returns whether the error concerns the entries and not the database. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status >= 400 && error.status < 500
}
