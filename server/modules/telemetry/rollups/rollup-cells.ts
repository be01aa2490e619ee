import { LatencySketch } from './latency-sketch.ts'
import { type Dimension, type View, viewDimensions } from './rollup-types.ts'

/** Null if a view omits it, the events name no model, or they succeeded and so count without an error code. */
export type Dimensions = Readonly<Record<Dimension, string | null>>

/**
 * An exact sum of any whole numbers. A thousand costs of 10^15 micro-dollars exceed a number, but nearly all sums are
 * small, and numbers are much faster than BigInts.
 */
export class ExactSum {
  #whole = 0n
  #part = 0

  add(value: number): void {
    const part = this.#part + value
    if (Number.isSafeInteger(part)) {
      this.#part = part
    } else {
      this.#whole += BigInt(this.#part) + BigInt(value)
      this.#part = 0
    }
  }

  addExact(value: bigint): void {
    const safe = Number(value)
    if (Number.isSafeInteger(safe)) this.add(safe)
    else this.#whole += value
  }

  merge(other: ExactSum): void {
    this.#whole += other.#whole
    this.add(other.#part)
  }

  get value(): bigint {
    return this.#whole + BigInt(this.#part)
  }
}

/** Metrics of a set of events; those of two sets can be merged. */
export class Metrics {
  invocations = 0
  failures = 0
  readonly tokensIn = new ExactSum()
  readonly tokensOut = new ExactSum()
  /** In micro-dollars, as the next member. */
  readonly costEstimate = new ExactSum()
  readonly costComputed = new ExactSum()
  /** Events without a price. */
  unpriced = 0
  readonly latency = new LatencySketch()

  merge(other: Metrics): void {
    this.invocations += other.invocations
    this.failures += other.failures
    this.tokensIn.merge(other.tokensIn)
    this.tokensOut.merge(other.tokensOut)
    this.costEstimate.merge(other.costEstimate)
    this.costComputed.merge(other.costComputed)
    this.unpriced += other.unpriced
    this.latency.merge(other.latency)
  }
}

/** The metrics of one combination of a view's dimensions, in one period. */
export interface Cell {
  view: View
  firstQuarter: number
  dimensions: Dimensions
  metrics: Metrics
}

/** Holds cells by view, quarter and dimensions. */
export class Cells {
  readonly #cells = new Map<string, Cell>()

  get size(): number {
    return this.#cells.size
  }

  /** Returns the metrics to add to, empty at first. Dimensions that the view omits must already be null. */
  metricsOf(view: View, firstQuarter: number, dimensions: Dimensions): Metrics {
    const key = `${view} ${firstQuarter} ${idsOf(dimensions)}`
    const known = this.#cells.get(key)
    if (known) return known.metrics
    const metrics = new Metrics()
    this.#cells.set(key, { view, firstQuarter, dimensions, metrics })
    return metrics
  }

  values(): MapIterator<Cell> {
    return this.#cells.values()
  }

  clear(): void {
    this.#cells.clear()
  }
}

/**
 * Returns a text that identifies a combination of dimensions: no id contains a space, and none is empty. The error code
 * is last and absent without one, so rows from before it keep their digest.
 */
export function idsOf(dimensions: Dimensions): string {
  const { skill_id, archetype_id, user_id, llm_platform, llm_model, error_code } = dimensions
  const ids = `${skill_id ?? ''} ${archetype_id ?? ''} ${user_id ?? ''} ${llm_platform ?? ''} ${llm_model ?? ''}`
  return error_code === null ? ids : `${ids} ${error_code}`
}

/** Adds up cells to those of another view, whose dimensions theirs must keep. */
export async function addedUp(cells: Cells, view: View, yieldIfLong: () => Promise<void>): Promise<Cells> {
  const sums = new Cells()
  for (const { firstQuarter, dimensions, metrics } of cells.values()) {
    sums.metricsOf(view, firstQuarter, keptBy(view, dimensions)).merge(metrics)
    await yieldIfLong()
  }
  return sums
}

const nothingKept: Dimensions = {
  skill_id: null,
  archetype_id: null,
  user_id: null,
  llm_platform: null,
  llm_model: null,
  error_code: null,
}

/** Returns the dimensions with null for those that the view omits. */
export function keptBy(view: View, dimensions: Dimensions): Dimensions {
  const kept: Record<Dimension, string | null> = { ...nothingKept }
  for (const dimension of viewDimensions[view]) kept[dimension] = dimensions[dimension]
  return kept
}
