import type { TenantTx } from '../../../db/database.ts'
import type { Grouping } from './summary-types.ts'

/** Requests windows of time with a common end: by `ts`, from ≤ ts < to. */
export interface WindowQuestion {
  /** The begins of the windows in milliseconds, as is `toMs`: whole quarters of an hour, ascending, each once. */
  fromMs: readonly number[]
  toMs: number
  groupBy: Grouping
  /** Counts only invocations of these skills. */
  skillIds?: readonly string[] | undefined
  /** Counts only invocations by people of these archetypes. */
  archetypeIds?: readonly string[] | undefined
  /** Whether to compute the 95th percentile, which takes longer. */
  latencies: boolean
}

/** The metrics of one group of a window. */
export interface WindowGroup {
  invocations: number
  failures: number
  /** The greater one of reported and calculated cost. */
  costUsd: number
  /** In whole milliseconds; 0 unless requested. */
  latencyP95Ms: number
}

export interface WindowReading {
  /** The key after which groups are read. */
  after: string | undefined
  /** Called periodically; returns whether to leave the rest for later. */
  isOver: () => boolean
  /**
   * Receives a group.
   *
   * @param place index of the window's begin in `fromMs`
   */
  take: (key: string, place: number, group: WindowGroup) => void
}

/** Computes the metrics of windows, equal to those of the command center. */
export interface TelemetryWindows {
  /**
   * Passes on every group of every window with any data, from the snapshot that the transaction must have. It reads all
   * windows together, regardless of their number, and passes on all groups of one key together. It omits people whose
   * records were erased.
   *
   * @returns the key after which the rest follows, if `isOver` ended it early
   */
  eachGroup(tx: TenantTx, question: WindowQuestion, reading: WindowReading): Promise<string | undefined>
}
