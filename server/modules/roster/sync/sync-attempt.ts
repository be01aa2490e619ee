import { backoff } from '../../../../contract/backoff.ts'
import {
  rosterPullPauseMs,
  rosterPullRetryAfterSecondsMax,
  rosterPullTriesMax,
  rosterSyncTurnSeconds,
} from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { ScimSource, ScimSourceResponse } from '../../identity/scim/scim-source-types.ts'
import type { GroupMapping } from '../directory/directory-types.ts'
import { SyncEndedError, SyncFailed, type SyncPosition } from './sync-state.ts'
import { lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** Lanes separate slow directories from quick ones, so that they do not block others. */
export type SyncLane = 'quick' | 'slow'

/** Limits a sync to some seconds of work; then waiting syncs run before it continues. */
interface SyncTimeSlice {
  lane: SyncLane
  isOver(): boolean
}

export const timeSliceMs = rosterSyncTurnSeconds * 1000

export interface NextTimeSlice {
  /** The new lane, if the directory has become slow. */
  lane?: SyncLane
  pauseMs?: number
  /** Number of failed attempts at the current request. */
  asks?: number
}

/** Signals that a sync must continue later. All earlier progress is saved. */
export class TimeSliceEnded extends Error {
  override readonly name = 'TimeSliceEnded'
  readonly next: NextTimeSlice

  constructor(next: NextTimeSlice = {}) {
    super('the time slice of the sync is over')
    this.next = next
  }
}

/** One process's work on a sync. Only the latest attempt may change the sync, and only while it runs. */
export interface SyncAttempt {
  tenant: Tenant
  syncId: string
  attempt: number
  /** The source of a pull; undefined for push. */
  source: ScimSource | undefined
  mapping: readonly GroupMapping[]
  actor: Actor
  turn: SyncTimeSlice
  signal: AbortSignal
}

/**
 * Advances the sync in one transaction: `work` changes the given row, and its changes of the roster commit with it.
 * Throws {@link SyncEndedError} if a later attempt or the end of the sync has superseded this one.
 */
export function takeStep(
  database: Database,
  { tenant, syncId, attempt }: SyncAttempt,
  work: (tx: TenantTx, row: SyncRow) => Promise<void>,
): Promise<SyncRow> {
  return database.withTenant(tenant.slug, async (tx) => {
    const row = await lockAttempt(tx, syncId, attempt)
    if (!row) throw new SyncEndedError('the sync has ended, or another process runs it')
    const before = row.position
    // Progress resets the counters: they count crashes and directory failures at the same place only.
    row.position = { ...before, tries: 0, asks: 0 }
    await work(tx, row)
    const { users, groups } = row.position
    row.skipped = row.position.usersSkipped + row.position.skipped
    row.done = users + groups + row.skipped
    if (row.total !== null) row.total = Math.max(row.total, row.done)
    await saveSync(tx, row)
    return row
  })
}

export function beginTimeSlice(lane: SyncLane): SyncTimeSlice {
  const beganMs = performance.now()
  return { lane, isOver: () => performance.now() - beganMs >= timeSliceMs }
}

/**
 * Sends one request to a directory. A transient failure ends the time slice of the sync instead of blocking a slot that
 * others need; the next slice begins after a growing pause, or after the time the directory requests.
 *
 * Returns the response or a permanent problem. Throws {@link TimeSliceEnded}, {@link SyncFailed} after too many
 * requests, or the reason of the signal.
 */
export async function requestSource<T>(
  attempt: SyncAttempt,
  { asks }: Pick<SyncPosition, 'asks'>,
  work: (signal: AbortSignal) => Promise<ScimSourceResponse<T>>,
): Promise<ScimSourceResponse<T>> {
  attempt.signal.throwIfAborted()
  const late = attempt.turn.lane === 'quick' ? AbortSignal.timeout(timeSliceMs) : undefined
  const answer = await work(late ? AbortSignal.any([attempt.signal, late]) : attempt.signal).catch((error: unknown) => {
    if (late?.aborted && !attempt.signal.aborted) throw new TimeSliceEnded({ lane: 'slow', asks })
    throw error
  })
  if (answer.ok || !answer.problem.isPassing) return answer
  const { detail, retryAfterMs = 0 } = answer.problem
  if (asks + 1 >= rosterPullTriesMax) throw new SyncFailed(`${detail} This happened ${asks + 1} times.`)
  const wantedMs = Math.min(retryAfterMs, rosterPullRetryAfterSecondsMax * 1000)
  throw new TimeSliceEnded({ pauseMs: Math.max(wantedMs, backoff(asks, { first: rosterPullPauseMs })), asks: asks + 1 })
}
