import { rosterSyncTurnSeconds } from '../../../../contract/limits.ts'

/** Directories that take long to answer have places of their own, so that they keep nobody else waiting. */
export type SyncLane = 'quick' | 'slow'

/** A sync works for some seconds at a time; then those that wait have their turn, and it goes on after them. */
export interface SyncTimeSlice {
  lane: SyncLane
  isOver(): boolean
}

export const timeSliceMs = rosterSyncTurnSeconds * 1000

export function beginTimeSlice(lane: SyncLane): SyncTimeSlice {
  const beganMs = performance.now()
  return { lane, isOver: () => performance.now() - beganMs >= timeSliceMs }
}

/** How a sync goes on. */
export interface NextTimeSlice {
  /** Where its directory has become a slow one. */
  lane?: SyncLane
  /** Not before so long. */
  pauseMs?: number
  /** How often what it asks for now was asked for, in vain. */
  asks?: number
}

/** Thrown where a sync is to go on later. Everything before is saved. */
export class TimeSliceEnded extends Error {
  override readonly name = 'TurnOver'
  readonly next: NextTimeSlice

  constructor(next: NextTimeSlice = {}) {
    super('the turn of the sync is over')
    this.next = next
  }
}
