import type { TenantTx } from '../../../db/database.ts'
import { Figures } from '../rollups/rollup-cells.ts'
import { isPseudonym } from '../rollups/rollup-erasure.ts'
import { quarterMs } from '../rollups/rollup-types.ts'
import { createTurn, type Turn } from '../turns.ts'
import { percentile, usdOfExactMicros } from './summary-answer.ts'
import { readUnfoldedOf, type Unfolded } from './summary-deltas.ts'
import { viewFor, wholeDaysOf } from './summary-reader.ts'
import { addSums } from './summary-rows.ts'
import { spansOf } from './summary-spans.ts'
import { openDaysWithin, sumsOf } from './summary-store.ts'
import { type Filters, groupings, type SummaryRequest } from './summary-types.ts'
import type { TelemetryWindows, WindowGroup, WindowQuestion } from './window-types.ts'

/** Groups that are read at once: nearly always all. More are read from the beginning again, but never held together. */
const groupsAtOnce = 5_000

export const telemetryWindows: TelemetryWindows = {
  async eachGroup(tx, questions, take) {
    if (questions.length === 0) return
    const turn = createTurn()
    const requests = questions.map(requestOf)
    const unfolded = await readUnfoldedOf(tx, requests, undefined)
    for (const [index, question] of questions.entries()) {
      await readGroups(tx, requests[index]!, unfolded[index]!, question.latencies, turn, (key, figures) => {
        if (!isPseudonym(key)) take(question, groupOf(key, figures, question.latencies))
      })
    }
  },
}

function requestOf({ fromMs, toMs, groupBy, skillIds, archetypeIds }: WindowQuestion): SummaryRequest {
  const range = { first: fromMs / quarterMs, end: toMs / quarterMs }
  if (!Number.isInteger(range.first) || !Number.isInteger(range.end)) {
    throw new RangeError('a window begins and ends with a quarter of an hour')
  }
  const filters: Filters = {
    ...(skillIds && { skill_id: new Set(skillIds) }),
    ...(archetypeIds && { archetype_id: new Set(archetypeIds) }),
  }
  return { range, starts: [range.first], groupBy: groupings[groupBy], filters }
}

async function readGroups(
  tx: TenantTx,
  request: SummaryRequest,
  unfolded: Unfolded,
  latencies: boolean,
  turn: Turn,
  take: (key: string, figures: Figures) => void,
): Promise<void> {
  const { range, starts, groupBy, filters } = request
  const start = range.first
  const rest = new Map([...unfolded.rows.of(start)].map(({ key, figures }) => [key, figures]))
  const spans = spansOf([range], await openDaysWithin(tx, wholeDaysOf(range)))
  const view = viewFor(request, groupBy)
  let after: { at: number; key: string } | undefined
  for (;;) {
    const page = { view, spans, filters, groupBy, starts, after, limit: groupsAtOnce, latencies }
    const rows = await sumsOf(tx, page)
    for (const sums of rows) {
      const figures = rest.get(sums.key) ?? new Figures()
      rest.delete(sums.key)
      addSums(figures, sums)
      take(sums.key, figures)
      await turn.endIfLong()
    }
    const last = rows.at(-1)
    if (!last || rows.length < groupsAtOnce) break
    after = { at: 0, key: last.key }
  }
  for (const [key, figures] of rest) {
    take(key, figures)
    await turn.endIfLong()
  }
}

function groupOf(key: string, figures: Figures, latencies: boolean): WindowGroup {
  const { invocations, failures, costEstimate, costComputed, latency } = figures
  return {
    ...{ key, invocations, failures },
    costUsd: Math.max(usdOfExactMicros(costEstimate.value), usdOfExactMicros(costComputed.value)),
    latencyP95Ms: latencies ? percentile(latency, 0.95) : 0,
  }
}
