import { type LatencySketch, latencyBinMax, readBins } from '../rollups/latency-sketch.ts'
import { Figures } from '../rollups/rollup-cells.ts'
import type { SumRow } from './summary-store.ts'
import type { RowPosition } from './summary-types.ts'

/** The metrics of one row of a response. */
export interface FiguresRow extends RowPosition {
  figures: Figures
}

/** Holds rows by position. */
export class FiguresRows {
  readonly #byStart = new Map<number, Map<string, FiguresRow>>()

  /** Returns the metrics to add to, empty at first. */
  figuresAt(start: number, key: string): Figures {
    const ofStart = this.#byStart.getOrInsertComputed(start, () => new Map())
    return ofStart.getOrInsertComputed(key, () => ({ start, key, figures: new Figures() })).figures
  }

  /** Returns the rows of one start. */
  of(start: number): Iterable<FiguresRow> {
    return this.#byStart.get(start)?.values() ?? []
  }

  /** Returns all rows in the order of the response. */
  inOrder(): FiguresRow[] {
    const rows = [...this.#byStart.values()].flatMap((ofStart) => [...ofStart.values()])
    return rows.sort(comparePositions)
  }
}

/** Compares by start, then by key in the order of code points, which is that of its bytes in the database. */
export function comparePositions(a: RowPosition, b: RowPosition): number {
  return a.start - b.start || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
}

/** Adds sums of the database. */
export function addSums(figures: Figures, sums: SumRow): void {
  figures.invocations += sums.invocations
  figures.failures += sums.failures
  figures.tokensIn.addExact(BigInt(sums.tokens_in))
  figures.tokensOut.addExact(BigInt(sums.tokens_out))
  figures.costEstimate.addExact(BigInt(sums.cost_estimate))
  figures.costComputed.addExact(BigInt(sums.cost_computed))
  figures.unpriced += sums.unpriced
  if (sums.sketches) addSketches(figures.latency, sums.sketches)
}

/** Counting in an array is several times as fast as in the maps of sketches. */
const counts = new Float64Array(latencyBinMax + 1)

/** Adds sketches, each preceded by its length in four bytes. */
function addSketches(into: LatencySketch, sketches: Buffer): void {
  counts.fill(0)
  const take = (bin: number, count: number) => {
    counts[bin]! += count
  }
  for (let at = 0; at < sketches.length; ) {
    const begin = at + 4
    at = begin + sketches.readUInt32BE(at)
    readBins(sketches, begin, at, take)
  }
  for (const [bin, count] of counts.entries()) if (count > 0) into.add(bin, count)
}
