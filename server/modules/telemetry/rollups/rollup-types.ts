/**
 * The numbers behind the command center, as their reader finds them. In one repeatable-read transaction, the numbers of
 * a tenant are the sum of
 *
 * - the rows of hub.telemetry_rollups of the grain `day`, for days that are not in hub.rollup_open_days,
 * - its rows of the grain `quarter`, for all other time,
 * - the entries of every row of hub.telemetry_deltas, by their quarter, closed day or not (readDelta in
 *   rollup-delta.ts; one that throws UnreadableDelta is skipped, as in the aggregation).
 *
 * A quarter is a quarter of an hour of `ts`, counted since 1970 in UTC; a day is 96 of them. Every row exists once in
 * each view, so one query reads one view. `first_quarter` of a day's row is that of its first quarter. A day that is
 * not open has its day rows, or no events; `day` rows of open days may be missing or outdated.
 */

export const quarterHourMs = 900_000
export const quarterHoursPerDay = 96

/** The names of the dimensions' columns. */
export const dimensionNames = [
  'skill_id',
  'archetype_id',
  'user_id',
  'llm_platform',
  'llm_model',
  'error_code',
] as const
export type Dimension = (typeof dimensionNames)[number]

/**
 * The dimensions that each view keeps; the others are null in its rows. The model is null if events
 * name none, and the error code if they succeeded. Rows of `all` and `no_user` with failures but without an error code
 * are from before migration 0023: their failures are not divided by error code.
 */
export const viewDimensions = {
  all: dimensionNames,
  no_user: ['skill_id', 'archetype_id', 'llm_platform', 'llm_model', 'error_code'],
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
 * The grain of a stored row. Rows of the grain `erased`, which only a rebuild reads, are quarters of the view `all`
 * with the additions of erased events.
 */
export type StoredGrain = Grain | 'erased'

/** Returns the day of a quarter, counted since 1970 in UTC. */
export function dayOfQuarterHour(quarter: number): number {
  return Math.floor(quarter / quarterHoursPerDay)
}
