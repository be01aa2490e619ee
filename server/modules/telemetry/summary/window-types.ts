import type { TenantTx } from '../../../db/database.ts'
import type { Grouping } from './summary-types.ts'

/** What is asked of a window of time: by `ts`, from ≤ ts < to. */
export interface WindowQuestion {
  /** Both in milliseconds, whole quarters of an hour. */
  fromMs: number
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
  key: string
  invocations: number
  failures: number
  /** The greater one of what was estimated and what the Hub has computed. */
  costUsd: number
  /** In whole milliseconds; 0 unless asked for. */
  latencyP95Ms: number
}

/** The figures of windows, as the command center has them. */
export interface TelemetryWindows {
  /**
   * Gives every group of every window, in any order, as the transaction sees them; it has to have a snapshot. People
   * whose records were erased are left out.
   */
  eachGroup<Question extends WindowQuestion>(
    tx: TenantTx,
    questions: readonly Question[],
    take: (question: Question, group: WindowGroup) => void,
  ): Promise<void>
}
