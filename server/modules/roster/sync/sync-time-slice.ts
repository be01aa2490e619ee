import { rosterSyncTurnSeconds } from '../../../../contract/limits.ts'

/** Lanes separate slow directories from quick ones, so that they do not block others. */
export type SyncLane = 'quick' | 'slow'

/** Limits a sync to some seconds of work; then waiting syncs run before it continues. */
export interface SyncTimeSlice {
  lane: SyncLane
  isOver(): boolean
}

export const timeSliceMs = rosterSyncTurnSeconds * 1000

export function beginTimeSlice(lane: SyncLane): SyncTimeSlice {
  const beganMs = performance.now()
  return { lane, isOver: () => performance.now() - beganMs >= timeSliceMs }
}

/** Schedule of the next time slice. */
export interface NextTimeSlice {
  /** The new lane, if the directory has become slow. */
  lane?: SyncLane
  /** Minimum pause in milliseconds. */
  pauseMs?: number
  /** Number of failed attempts at the current request. */
  asks?: number
}

/** Signals that a sync must continue later. All earlier progress is saved. */
export class TimeSliceEnded extends Error {
  override readonly name = 'TimeSliceEnded'
  readonly next: NextTimeSlice

  constructor(next: NextTimeSlice = {}) {
    super('the turn of the sync is over')
    this.next = next
  }
}
