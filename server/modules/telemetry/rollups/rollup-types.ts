/**
 * The numbers behind the command center, as their reader finds them. In one repeatable-read transaction, the numbers
 * of a tenant are the sum of
 *
 *  - the rows of hub.telemetry_rollups of the grain `day`, for days that are not in hub.rollup_open_days,
 *  - its rows of the grain `quarter`, for all other time,
 *  - the entries of every row of hub.telemetry_deltas, by their quarter, closed day or not (readDelta in
 *    rollup-delta.ts; one that throws UnreadableDelta is left out, as the folding does).
 *
 * A quarter is a quarter of an hour of `ts`, counted since 1970 in UTC; a day is 96 of them. Every row stands once in
 * each view, so one question reads one view. `first_quarter` of a day's row is that of its first quarter. A day that
 * is not open has its day rows, or no events; `day` rows of open days may be missing or behind.
 */

export const quarterMs = 900_000
export const quartersPerDay = 96

/** Names of the columns of the dimensions. */
export type Dimension = 'skill_id' | 'archetype_id' | 'user_id' | 'llm_platform' | 'llm_model'

/** Which dimensions each view keeps apart; the others are null in its rows. The model is null where events name none. */
export const viewDimensions = {
  all: ['skill_id', 'archetype_id', 'user_id', 'llm_platform', 'llm_model'],
  no_user: ['skill_id', 'archetype_id', 'llm_platform', 'llm_model'],
  skill: ['skill_id'],
  archetype: ['archetype_id'],
  user: ['user_id'],
  platform: ['llm_platform'],
  model: ['llm_model'],
} as const satisfies Record<string, readonly Dimension[]>

export type View = keyof typeof viewDimensions
export const views = Object.keys(viewDimensions) as View[]

export type Grain = 'quarter' | 'day'

/**
 * Rows of this grain, which nobody reads but a rebuild, are quarters of the view `all` that keep what erased events
 * have added to the others.
 */
export type StoredGrain = Grain | 'erased'

/** The quarter that a time lies in; negative before 1970. */
export function quarterOf(epochMs: number): number {
  return Math.floor(epochMs / quarterMs)
}

/** Days since 1970, in UTC. */
export function dayOfQuarter(quarter: number): number {
  return Math.floor(quarter / quartersPerDay)
}
