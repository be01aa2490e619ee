import type { YieldBudget } from '../../../http/yield-budget.ts'
import { LatencySketch } from './latency-sketch.ts'
import { type Dimension, type View, viewDimensions } from './rollup-types.ts'

/** Null where a view does not keep it, or the events name no model. */
export type Dimensions = Readonly<Record<Dimension, string | null>>

/**
 * A sum of whole numbers that is exact whatever they are. A thousand costs of 10^15 micro-dollars pass what a number
 * holds, but nearly all sums are small, and numbers are much faster than BigInts.
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

/** What is known of some events, and of any two sets of events together. */
export class Figures {
  invocations = 0
  failures = 0
  readonly tokensIn = new ExactSum()
  readonly tokensOut = new ExactSum()
  /** Micro-dollars, as the next. */
  readonly costEstimate = new ExactSum()
  readonly costComputed = new ExactSum()
  /** Events without a price. */
  unpriced = 0
  readonly latency = new LatencySketch()

  merge(other: Figures): void {
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

/** The figures of one combination of a view's dimensions, in one span of time. */
export interface Cell {
  view: View
  firstQuarter: number
  dimensions: Dimensions
  figures: Figures
}

/** Cells by what they are of. */
export class Cells {
  readonly #cells = new Map<string, Cell>()

  get size(): number {
    return this.#cells.size
  }

  /** The figures to add to, empty at first. Dimensions that the view does not keep must be null already. */
  figuresOf(view: View, firstQuarter: number, dimensions: Dimensions): Figures {
    const key = `${view} ${firstQuarter} ${idsOf(dimensions)}`
    const known = this.#cells.get(key)
    if (known) return known.figures
    const figures = new Figures()
    this.#cells.set(key, { view, firstQuarter, dimensions, figures })
    return figures
  }

  values(): MapIterator<Cell> {
    return this.#cells.values()
  }

  clear(): void {
    this.#cells.clear()
  }
}

/** Tells combinations of dimensions apart: no id has a space in it, and none is empty. */
export function idsOf(dimensions: Dimensions): string {
  const { skill_id, archetype_id, user_id, llm_platform, llm_model } = dimensions
  return `${skill_id ?? ''} ${archetype_id ?? ''} ${user_id ?? ''} ${llm_platform ?? ''} ${llm_model ?? ''}`
}

/** Adds the cells of the view `all` up to those of another view. */
export async function addUp(into: Cells, all: Cells, view: View, turn: YieldBudget): Promise<void> {
  for (const { firstQuarter, dimensions, figures } of all.values()) {
    into.figuresOf(view, firstQuarter, keptBy(view, dimensions)).merge(figures)
    await turn.endIfLong()
  }
}

const nothingKept: Dimensions = {
  skill_id: null,
  archetype_id: null,
  user_id: null,
  llm_platform: null,
  llm_model: null,
}

/** The dimensions with null for those that the view does not keep. */
export function keptBy(view: View, dimensions: Dimensions): Dimensions {
  const kept: Record<Dimension, string | null> = { ...nothingKept }
  for (const dimension of viewDimensions[view]) kept[dimension] = dimensions[dimension]
  return kept
}
