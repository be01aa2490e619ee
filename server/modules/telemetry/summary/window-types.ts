import type { TenantTx } from '../../../db/database.ts'
import type { Grouping } from './summary-types.ts'

/** What is asked of windows of time that end together: by `ts`, from ≤ ts < to. */
export interface WindowQuestion {
  /** In milliseconds, whole quarters of an hour, as `toMs`: where the windows begin, ascending, each once. */
  fromMs: readonly number[]
  toMs: number
  groupBy: Grouping
  /** Invocations of these skills alone. */
  skillIds?: readonly string[] | undefined
  /** Invocations by people of these archetypes alone. */
  archetypeIds?: readonly string[] | undefined
  /** Whether the 95th percentile is wanted, which takes longer. */
  latencies: boolean
}

/** The figures of one group of a window. */
export interface WindowGroup {
  invocations: number
  failures: number
  /** The greater one of what was estimated and what the Hub has computed. */
  costUsd: number
  /** In whole milliseconds; 0 unless asked for. */
  latencyP95Ms: number
}

export interface WindowReading {
  /** Only groups behind this key. */
  after: string | undefined
  /** Asked now and then: whether to leave the rest for another time. */
  isOver: () => boolean
  /** @param place of the beginning of the window in `fromMs` */
  take: (key: string, place: number, group: WindowGroup) => void
}

/** The figures of windows, as the command center has them. */
export interface TelemetryWindows {
  /**
   * Gives every group of every window in which it has any figures, as the transaction sees them; it has to have a
   * snapshot. All windows are read in one go, however many they are, and all of one key are given together. People
   * whose records were erased are left out.
   *
   * @returns the key behind which the rest is, where it was over before the end
   */
  eachGroup(tx: TenantTx, question: WindowQuestion, reading: WindowReading): Promise<string | undefined>
}
