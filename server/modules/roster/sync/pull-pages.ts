import { rosterPullEntriesMax, rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { ScimPage } from '../../identity/scim/scim-source-types.ts'
import type { SourceAsking } from './source-asking.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import { SyncFailed, type SyncPosition } from './sync-state.ts'
import type { SyncRow } from './syncs-store.ts'

const passesMax = 3

/** What one kind of entry needs besides paging. */
export interface PulledKind {
  resource: 'Users' | 'Groups'
  /** Reads what a page holds, and fetches what is missing in it. */
  prepare(attempt: SyncAttempt, resources: readonly unknown[], position: SyncPosition): Promise<PreparedPage>
  /** How many of this kind were met so far. */
  metOf(position: SyncPosition): number
  /** Called once every page is read; sets the next phase. */
  finish(position: SyncPosition): void
}

/** Applies a part of the page; the position and counts of the row are changed with it. */
export interface PreparedPage {
  /** Entries that the page had, usable or not. */
  length: number
  /** Entries from..to of the page. Throws DomainError when one is refused. */
  apply(tx: TenantTx, row: SyncRow, from: number, to: number): Promise<void>
}

/** Reads one page and applies it; answers the row as it is then. */
export async function pullPage(
  deps: { database: Database; asking: SourceAsking; applyInParts: ApplyInParts },
  kind: PulledKind,
  attempt: SyncAttempt,
  row: SyncRow,
): Promise<SyncRow> {
  const { position } = row
  const page = await deps.asking.ask(
    () =>
      attempt.source!.page(
        kind.resource,
        {
          startIndex: position.startIndex,
          count: position.count,
          withoutMembers: kind.resource === 'Groups' && position.membersApart,
        },
        attempt.signal,
      ),
    attempt.signal,
  )
  if (page === undefined) return takeStep(deps.database, attempt, async (_tx, each) => askForLess(kind, each.position))
  const prepared = await kind.prepare(attempt, page.resources, position)
  const before = kind.metOf(position)
  const applied = await deps.applyInParts(attempt, prepared, row)
  const isStuck =
    position.pass === 1 &&
    position.startIndex > 1 &&
    page.resources.length > 0 &&
    kind.metOf(applied.position) === before
  if (isStuck && applied.position.skipped === position.skipped) {
    throw new SyncFailed(
      `GET /${kind.resource}: with startIndex=${position.startIndex} the directory answered only entries that it had ` +
        'answered before: it does not page as RFC 7644, section 3.4.2.4 says.',
    )
  }
  return takeStep(deps.database, attempt, async (_tx, each) => turnPage(kind, each, page))
}

export type ApplyInParts = (attempt: SyncAttempt, page: PreparedPage, row: SyncRow) => Promise<SyncRow>

/** An answer was too large. */
function askForLess(kind: PulledKind, position: SyncPosition): void {
  if (position.count > 1) {
    position.count = Math.ceil(position.count / 4)
  } else if (kind.resource === 'Groups' && !position.membersApart) {
    position.membersApart = true
    position.count = rosterPullPageSize
  } else {
    const place = `GET /${kind.resource}?startIndex=${position.startIndex}&count=1`
    throw new SyncFailed(`${place}: the answer about one entry is larger than the Hub takes.`)
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
    Object.assign(position, { startIndex: 1, pass: position.pass + 1, totalMax: 0, fresh: 0, skipped: 0 })
    return
  }
  kind.finish(position)
}
