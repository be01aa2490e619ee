import {
  rosterPullEntriesMax,
  rosterPullPageBytesMax,
  rosterPullPageEntriesMax,
  rosterPullPageSize,
} from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { ScimPage } from '../../identity/scim/scim-source-types.ts'
import { applyBisecting } from './bisecting-apply.ts'
import { requestSource } from './source-request.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import { forgetSkipped, SyncFailed, type SyncPosition } from './sync-state.ts'
import { TimeSliceEnded } from './sync-time-slice.ts'
import type { SyncRow } from './syncs-store.ts'

const passesMax = 3
/** Entries of about so many bytes are applied in one transaction; in one go, everybody else would wait. */
const partBytes = 256 * 1024

/** What one kind of entry needs besides paging. */
export interface PulledKind {
  resource: 'Users' | 'Groups'
  /** Reads entries of a page, the first ones at least, and fetches what is missing in them. */
  prepare(attempt: SyncAttempt, resources: readonly unknown[], position: SyncPosition): Promise<PreparedPart>
  /** What stands for the first page where the directory has no such list. Throws {@link SyncFailed}. */
  absent?(attempt: SyncAttempt): ScimPage
  /** How many of this kind were met so far. */
  metOf(position: SyncPosition): number
  /** Called once every page is read; sets the next phase. */
  finish(position: SyncPosition): void
}

/** Some entries of a page, from the first that was not applied on. */
export interface PreparedPart {
  resource: PulledKind['resource']
  /** Entries, usable or not; one at least. */
  length: number
  /** Entries from..to of the part; changes counts of the row. Throws DomainError when one is refused. */
  apply(tx: TenantTx, row: SyncRow, from: number, to: number): Promise<void>
}

/** Reads one page and applies it; answers the row as it is then. Throws {@link TimeSliceEnded} in the middle of long ones. */
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

/** Undefined when the answer is too large. */
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

/** An answer was too large. */
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

/** Goes to the next page, the next pass, or on. */
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
    forgetSkipped(position, kind.resource)
    return
  }
  kind.finish(position)
}
