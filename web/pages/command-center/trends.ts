/** The members of a summary row that are judged here. */
interface Counted {
  invocations: number
  failures: number
}

/** Returns the share of failures; undefined without invocations. */
export function failureRate({ invocations, failures }: Counted): number | undefined {
  return invocations === 0 ? undefined : failures / invocations
}

interface Costs {
  cost_usd_estimate: number
  cost_usd_computed: number
}

/**
 * Returns the reported cost less the calculated cost: `variance_usd` of the reconciliation, to the same six decimals.
 */
export function costDifferenceOf({ cost_usd_estimate, cost_usd_computed }: Costs): number {
  return Math.round((cost_usd_estimate - cost_usd_computed) * 1e6) / 1e6
}

export type Direction = 'up' | 'down' | 'same'

export interface Change {
  direction: Direction
  /** (now − before) / before; undefined if the previous value is zero. */
  ratio: number | undefined
}

/** Returns the change of a value; undefined if one of the two is unknown. */
export function changeOf(now: number | undefined, before: number | undefined): Change | undefined {
  if (now === undefined || before === undefined) return undefined
  const direction = now > before ? 'up' : now < before ? 'down' : 'same'
  return { direction, ratio: before === 0 ? (now === 0 ? 0 : undefined) : (now - before) / before }
}

/** Minimum number of failures that counts. */
const fewestFailures = 3
const sharpFactor = 2
const sharpPoints = 0.05
/** Minimum failure rate of a new skill that counts. */
const newSkillRate = 0.1

export type Worsening = 'new' | 'sharp'

/**
 * Returns whether a skill became worse. `new`: it was used in the previous period without a failure, or was unused and
 * now at least a tenth fails. `sharp`: the failure rate at least doubled and rose by five points or more. Fewer than
 * three failures are neither.
 */
export function worseningOf(now: Counted, before: Counted | undefined): Worsening | undefined {
  if (now.failures < fewestFailures) return undefined
  const rate = failureRate(now) ?? 0
  const earlier = before && failureRate(before)
  if (earlier === undefined) return rate >= newSkillRate ? 'new' : undefined
  if (earlier === 0) return 'new'
  return rate >= sharpFactor * earlier && rate - earlier >= sharpPoints ? 'sharp' : undefined
}
