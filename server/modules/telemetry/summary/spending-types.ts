import type { TenantTx } from '../../../db/database.ts'
import type { Filters } from './summary-types.ts'

/** Selects the events whose costs are added: by `ts`, from ≤ ts < to. */
export interface SpendingQuestion {
  /** Milliseconds since 1970; rounded up to a whole quarter of an hour, as is `toMs`. */
  fromMs: number
  toMs: number
  filters: Filters
}

/** Sums of costs in micro-dollars. */
export interface Spending {
  reportedMicros: bigint
  calculatedMicros: bigint
}

/** Adds up costs, equal to those of the command center. */
export interface TelemetrySpending {
  /**
   * Returns the costs for each question, in their order, from the snapshot that the transaction must have. All
   * questions are one statement, and events that are not aggregated yet are read once for all.
   */
  spent(tx: TenantTx, questions: readonly SpendingQuestion[]): Promise<Spending[]>
}
