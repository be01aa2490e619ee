import { parseTimestamp } from '../../contract/timestamp.ts'
import { quarterHourMs } from '../../server/modules/telemetry/rollups/rollup-types.ts'
import type { SummaryQuery } from '../../server/modules/telemetry/summary/summary-schemas.ts'
import type { CountedEvent } from '../../server/modules/telemetry/telemetry-types.ts'

/** The summary, reckoned from the events themselves. */

interface ExpectedNumbers {
  invocations: number
  failures: number
  tokens_in: number
  tokens_out: number
  cost_usd_estimate: number
  cost_usd_computed: number
  unpriced: number
  /** Ascending. */
  latencies: number[]
}
export interface ExpectedRow extends ExpectedNumbers {
  start: string | undefined
  key: string | null | undefined
}

const groupOf: Record<string, (event: CountedEvent) => string | undefined> = {
  skill: (event) => event.skillId,
  archetype: (event) => event.archetypeId,
  user: (event) => event.userId,
  platform: (event) => event.platform,
  model: (event) => event.model,
  error_code: (event) => event.errorCode,
}

export function expectedSummary(events: readonly CountedEvent[], query: SummaryQuery) {
  const from = msOf(query.from!)
  const to = msOf(query.to!)
  const counted = events.filter(
    (event) =>
      event.epochMs >= from &&
      event.epochMs < to &&
      (query.skill_id ?? event.skillId) === event.skillId &&
      (query.archetype_id ?? event.archetypeId) === event.archetypeId &&
      (query.user_id ?? event.userId) === event.userId &&
      (query.llm_platform ?? event.platform) === event.platform &&
      (query.llm_model === undefined || query.llm_model === event.model) &&
      (query.success === undefined || query.success === (event.errorCode === undefined)) &&
      (query.error_code === undefined || query.error_code === event.errorCode) &&
      (query.group_by !== 'error_code' || event.errorCode !== undefined),
  )
  const starts = query.interval ? localStarts(from, to, query.interval, query.time_zone ?? 'UTC') : undefined
  const groups = Map.groupBy(counted, (event) => {
    const start = starts?.get(Math.floor(event.epochMs / quarterHourMs) * quarterHourMs)
    return JSON.stringify([start ?? '', query.group_by ? (groupOf[query.group_by]!(event) ?? '') : ''])
  })
  const rows = [...groups].map(([place, members]): ExpectedRow => {
    const [start, key] = JSON.parse(place) as [string, string]
    return { start: start || undefined, key: query.group_by ? key || null : undefined, ...numbersOf(members) }
  })
  const placeOf = (row: ExpectedRow) => `${row.start ?? ''} ${row.key ?? ''}`
  const byCodePoint = (a: ExpectedRow, b: ExpectedRow) => Buffer.from(placeOf(a)).compare(Buffer.from(placeOf(b)))
  return { rows: rows.sort(byCodePoint), totals: numbersOf(counted) }
}

function numbersOf(events: readonly CountedEvent[]): ExpectedNumbers {
  const micros = (costs: (number | undefined)[]) => costs.reduce<bigint>((sum, cost) => sum + BigInt(cost ?? 0), 0n)
  return {
    invocations: events.length,
    failures: events.filter((event) => event.errorCode !== undefined).length,
    tokens_in: events.reduce((sum, event) => sum + event.tokensIn, 0),
    tokens_out: events.reduce((sum, event) => sum + event.tokensOut, 0),
    cost_usd_estimate: usd(micros(events.map((event) => event.costEstimateMicros))),
    cost_usd_computed: usd(micros(events.map((event) => event.costComputedMicros))),
    unpriced: events.filter((event) => event.costComputedMicros === undefined).length,
    latencies: events.map((event) => event.latencyMs).sort((a, b) => a - b),
  }
}

/** Read as a decimal: a sum that passes 2^53 is rounded once. */
const usd = (micros: bigint) => Number(`${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`)
const msOf = (text: string) => parseTimestamp(text)!.epochMs

/** Start of each quarter's local hour or day, by looking at the clock on the wall at every quarter. */
function localStarts(from: number, to: number, interval: 'hour' | 'day', zone: string): Map<number, string> {
  const starts = new Map<number, string>()
  let before = ''
  let start = ''
  for (let at = from; at < to; at += quarterHourMs) {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
    const name =
      interval === 'day' ? String(local.toPlainDate()) : `${local.toPlainDate()} ${local.hour} ${local.offset}`
    if (name !== before) start = `${new Date(at).toISOString().slice(0, -1)}000Z`
    before = name
    starts.set(at, start)
  }
  return starts
}

/** The smallest value that a share of all do not exceed. */
export function nearestRank(ascending: readonly number[], share: number): number {
  return ascending.find((_, index) => index + 1 >= share * ascending.length) ?? 0
}
