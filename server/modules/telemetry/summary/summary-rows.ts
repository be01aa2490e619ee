import { type LatencySketch, latencyBinMax, readBins } from '../rollups/latency-sketch.ts'
import { Metrics } from '../rollups/rollup-cells.ts'
import type { SumRow } from './summary-store.ts'
import type { RowPosition } from './summary-types.ts'

/** The metrics of one row of a response. */
export interface MetricsRow extends RowPosition {
  metrics: Metrics
}

/** Holds rows by position. */
export class MetricsRows {
  readonly #byStart = new Map<number, Map<string, MetricsRow>>()

  /** Returns the metrics to add to, empty at first. */
  metricsAt(start: number, key: string): Metrics {
    const ofStart = this.#byStart.getOrInsertComputed(start, () => new Map())
    return ofStart.getOrInsertComputed(key, () => ({ start, key, metrics: new Metrics() })).metrics
  }

  /** Returns the rows of one start. */
  of(start: number): Iterable<MetricsRow> {
    return this.#byStart.get(start)?.values() ?? []
  }

  /** Returns all rows in the order of the response. */
  inOrder(): MetricsRow[] {
    const rows = [...this.#byStart.values()].flatMap((ofStart) => [...ofStart.values()])
    return rows.sort(comparePositions)
  }
}

/** Compares by start, then by key in the order of code points, which is that of its bytes in the database. */
export function comparePositions(a: RowPosition, b: RowPosition): number {
  return a.start - b.start || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
}

/** Adds sums of the database. */
export function addSums(metrics: Metrics, sums: SumRow): void {
  metrics.invocations += sums.invocations
  metrics.failures += sums.failures
  metrics.tokensIn.addExact(BigInt(sums.tokens_in))
  metrics.tokensOut.addExact(BigInt(sums.tokens_out))
  metrics.costEstimate.addExact(BigInt(sums.cost_estimate))
  metrics.costComputed.addExact(BigInt(sums.cost_computed))
  metrics.unpriced += sums.unpriced
  if (sums.sketches) addSketches(metrics.latency, sums.sketches)
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
