import { Metrics } from '../rollups/rollup-cells.ts'
import { quarterHourMs } from '../rollups/rollup-types.ts'
import type { SpendingQuestion, TelemetrySpending } from './spending-types.ts'
import { eachUnfolded, matches } from './summary-deltas.ts'
import { spansOf } from './summary-ranges.ts'
import { viewFor, wholeDaysOf } from './summary-reader.ts'
import { addSums } from './summary-rows.ts'
import { openDaysWithin, type TotalQuery, totalsOf } from './summary-store.ts'
import type { Filters, QuarterRange } from './summary-types.ts'

interface Reading {
  range: QuarterRange
  filters: Filters
  metrics: Metrics
}

export const telemetrySpending: TelemetrySpending = {
  async spent(tx, questions) {
    const readings = new Map<string, Reading>()
    const places = questions.map((question) => readings.getOrInsertComputed(keyOf(question), () => begun(question)))
    if (readings.size === 0) return []
    const all = [...readings.values()]
    const range = {
      first: Math.min(...all.map((each) => each.range.first)),
      end: Math.max(...all.map((each) => each.range.end)),
    }
    const openDays = await openDaysWithin(tx, wholeDaysOf(range))
    const queries = all.map((reading) => totalQueryOf(reading, openDays))
    for (const [place, sums] of (await totalsOf(tx, queries)).entries()) {
      if (sums) addSums(all[place]!.metrics, sums)
    }
    await eachUnfolded(tx, (entry) => {
      for (const reading of all) if (matches(entry, reading)) entry.addTo(reading.metrics)
    })
    return places.map(({ metrics }) => ({
      reportedMicros: metrics.costEstimate.value,
      calculatedMicros: metrics.costComputed.value,
    }))
  },
}

function keyOf({ fromMs, toMs, filters }: SpendingQuestion): string {
  return JSON.stringify([fromMs, toMs, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))])
}

function begun({ fromMs, toMs, filters }: SpendingQuestion): Reading {
  const range = { first: Math.ceil(fromMs / quarterHourMs), end: Math.ceil(toMs / quarterHourMs) }
  return { range, filters, metrics: new Metrics() }
}

function totalQueryOf(reading: Reading, openDays: readonly number[]): TotalQuery {
  const { range, filters } = reading
  return { view: viewFor(reading, undefined), spans: spansOf([range], openDays), filters }
}
