import type { TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { Metrics } from '../rollups/rollup-cells.ts'
import { isPseudonym } from '../rollups/rollup-erasure.ts'
import { quarterHourMs } from '../rollups/rollup-types.ts'
import { readUnfolded } from './summary-deltas.ts'
import { spansOf } from './summary-ranges.ts'
import { viewFor, wholeDaysOf } from './summary-reader.ts'
import { percentile, usdOfExactMicros } from './summary-response.ts'
import { addSums } from './summary-rows.ts'
import { openDaysWithin, type SumRow, windowSums } from './summary-store.ts'
import { type Filters, groupings, type SummaryRequest } from './summary-types.ts'
import type { TelemetryWindows, WindowGroup, WindowQuestion, WindowReading } from './window-types.ts'

/** Far more than the intervals of a key, of which there are at most 96. The last key of a page may be incomplete. */
const rowsAtOnce = 10_000

type WindowRequest = SummaryRequest & { groupBy: NonNullable<SummaryRequest['groupBy']> }

/** Values of a key by the index of the interval: a window is its own interval and all that follow. */
type ByPlace<T> = (T | undefined)[]

export const telemetryWindows: TelemetryWindows = {
  async eachGroup(tx, question, reading) {
    const yieldIfLong = createEventLoopYielder()
    const beganMs = performance.now()
    const request = requestOf(question)
    const unfolded = await unfoldedByKey(tx, request, reading.after, yieldIfLong)
    const spans = spansOf(intervalsOf(request), await openDaysWithin(tx, wholeDaysOf(request.range)))
    const view = viewFor(request, request.groupBy)
    const { latencies } = question
    let after = reading.after
    let preparedMs: number | undefined
    // Groups get at least as much time as the preparation took; otherwise a turn might do almost nothing.
    const isOver = () => reading.isOver() && performance.now() - preparedMs! >= preparedMs! - beganMs
    for (;;) {
      const rows = await windowSums(tx, { ...request, view, spans, after, limit: rowsAtOnce, latencies })
      preparedMs ??= performance.now()
      let isLast = rows.length < rowsAtOnce
      const last = isLast ? undefined : rows.at(-1)!.key
      const folded = Map.groupBy(rows, (row) => row.key)
      // The next page begins with it.
      if (last !== undefined) folded.delete(last)
      for (const [key, sums] of folded) {
        const ofKey = unfolded.get(key) ?? []
        unfolded.delete(key)
        await giveKey(key, sums, ofKey, request.starts.length, latencies, reading, yieldIfLong)
        after = key
        if (isOver()) {
          isLast = false
          break
        }
      }
      for (const [key, ofKey] of unfolded) {
        await yieldIfLong()
        if (!isLast && after !== undefined && compareBytes(key, after) > 0) continue
        unfolded.delete(key)
        await giveKey(key, [], ofKey, request.starts.length, latencies, reading, yieldIfLong)
      }
      if (isLast) return undefined
      if (isOver()) return after
    }
  },
}

function requestOf({ fromMs, toMs, groupBy, skillIds, archetypeIds }: WindowQuestion): WindowRequest {
  const starts = fromMs.map((from) => from / quarterHourMs)
  const end = toMs / quarterHourMs
  if (
    ![...starts, end].every((quarter, at, all) => Number.isInteger(quarter) && quarter > (all[at - 1] ?? -Infinity))
  ) {
    throw new RangeError('windows begin and end with quarters of an hour, and are in order')
  }
  const filters: Filters = {
    ...(skillIds && { skill_id: new Set(skillIds) }),
    ...(archetypeIds && { archetype_id: new Set(archetypeIds) }),
  }
  return { range: { first: starts[0]!, end }, starts, groupBy: groupings[groupBy], filters }
}

function intervalsOf({ range, starts }: WindowRequest) {
  return starts.map((first, place) => ({ first, end: starts[place + 1] ?? range.end }))
}

/** Reads deltas that are not aggregated yet, for keys after the given one. */
async function unfoldedByKey(
  tx: TenantTx,
  request: WindowRequest,
  after: string | undefined,
  yieldIfLong: () => Promise<void>,
) {
  const { rows } = await readUnfolded(tx, request, undefined)
  const byKey = new Map<string, ByPlace<Metrics>>()
  for (const [place, start] of request.starts.entries()) {
    for (const { key, metrics } of rows.of(start)) {
      if (after === undefined || compareBytes(key, after) > 0) byKey.getOrInsertComputed(key, () => [])[place] = metrics
      await yieldIfLong()
    }
  }
  return byKey
}

/** Passes on the windows of a key, the shortest first. */
async function giveKey(
  key: string,
  sums: readonly SumRow[],
  unfolded: ByPlace<Metrics>,
  places: number,
  latencies: boolean,
  { take }: WindowReading,
  yieldIfLong: () => Promise<void>,
): Promise<void> {
  if (isPseudonym(key)) return
  const folded: ByPlace<SumRow> = []
  for (const row of sums) folded[row.at] = row
  const metrics = new Metrics()
  let group: WindowGroup | undefined
  for (let place = places - 1; place >= 0; place -= 1) {
    const [ofRollups, ofDeltas] = [folded[place], unfolded[place]]
    if (ofRollups) addSums(metrics, ofRollups)
    if (ofDeltas) metrics.merge(ofDeltas)
    if (ofRollups || ofDeltas) group = groupOf(metrics, latencies)
    if (group) take(key, place, group)
    await yieldIfLong()
  }
}

function groupOf({ invocations, failures, costEstimate, costComputed, latency }: Metrics, latencies: boolean) {
  return {
    ...{ invocations, failures },
    costUsd: Math.max(usdOfExactMicros(costEstimate.value), usdOfExactMicros(costComputed.value)),
    latencyP95Ms: latencies ? percentile(latency, 0.95) : 0,
  }
}

/** Compares in the order of the database. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
