/** What of a row of the summary is judged here. */
interface Counted {
  invocations: number
  failures: number
}

/** What share failed; undefined where nothing was invoked. */
export function failureRate({ invocations, failures }: Counted): number | undefined {
  return invocations === 0 ? undefined : failures / invocations
}

export type Direction = 'up' | 'down' | 'same'

export interface Change {
  direction: Direction
  /** (now − before) / before; undefined where there was nothing before. */
  ratio: number | undefined
}

/** How a figure moved; undefined where one of the two is not known. */
export function changeOf(now: number | undefined, before: number | undefined): Change | undefined {
  if (now === undefined || before === undefined) return undefined
  const direction = now > before ? 'up' : now < before ? 'down' : 'same'
  return { direction, ratio: before === 0 ? (now === 0 ? 0 : undefined) : (now - before) / before }
}

/** Fewer failures than this say nothing. */
const fewestFailures = 3
const sharpFactor = 2
const sharpPoints = 0.05
/** What is new and fails as often is worth a look. */
const newSkillRate = 0.1

export type Worsening = 'new' | 'sharp'

/**
 * Whether something fails now that did not before: `new` where it was used in the period before without a failure, or was
 * not used and a tenth fails now; `sharp` where the share of failures at least doubled and rose by five points or more.
 * Less than three failures are none of both.
 */
export function worseningOf(now: Counted, before: Counted | undefined): Worsening | undefined {
  if (now.failures < fewestFailures) return undefined
  const rate = failureRate(now) ?? 0
  const earlier = before && failureRate(before)
  if (earlier === undefined) return rate >= newSkillRate ? 'new' : undefined
  if (earlier === 0) return 'new'
  return rate >= sharpFactor * earlier && rate - earlier >= sharpPoints ? 'sharp' : undefined
}
