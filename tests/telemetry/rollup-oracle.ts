import type pg from 'pg'
import { microsOfUsd } from '../../contract/money.ts'
import { LatencySketch, latencyBinOf } from '../../server/modules/telemetry/rollups/latency-sketch.ts'
import { Cells, type Metrics } from '../../server/modules/telemetry/rollups/rollup-cells.ts'
import { readDelta } from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import type { CountedEvent } from '../../server/modules/telemetry/telemetry-types.ts'
import { eventTexts } from '../support/record-texts.ts'

/** The rollups, reckoned from the events themselves with BigInts throughout. */

/** Of a view: which dimensions it keeps. Written down again, so that a slip in the service's table shows. */
const kept: Record<string, readonly number[]> = {
  all: [0, 1, 2, 3, 4, 5],
  no_user: [0, 1, 3, 4, 5],
  skill: [0],
  archetype: [1],
  user: [2],
  platform: [3],
  model: [4],
}

/** Place of a row → what it holds, as text. */
export type Rows = Map<string, string>

interface Sums {
  counts: bigint[]
  latency: LatencySketch
}

/** The rows that events make. A span is a quarter of an hour or a day, in milliseconds. */
export function expectedRows(events: Iterable<CountedEvent>, spanMs = 900_000): Rows {
  const sums = new Map<string, Sums>()
  for (const event of events) {
    const ids = [
      event.skillId,
      event.archetypeId,
      event.userId,
      event.platform,
      event.model ?? null,
      event.errorCode ?? null,
    ]
    const span = Math.floor(event.epochMs / spanMs)
    for (const [view, places] of Object.entries(kept)) {
      const names = ids.map((id, place) => (places.includes(place) ? id : null))
      add(sums.getOrInsertComputed(placeOf(view, span, names), empty), event)
    }
  }
  return asRows(sums)
}

const empty = (): Sums => ({ counts: new Array<bigint>(7).fill(0n), latency: new LatencySketch() })

function add({ counts, latency }: Sums, event: CountedEvent): void {
  const added = [
    1,
    event.errorCode === undefined ? 0 : 1,
    event.tokensIn,
    event.tokensOut,
    event.costEstimateMicros,
    event.costComputedMicros ?? 0,
    event.costComputedMicros === undefined ? 1 : 0,
  ]
  for (const [place, value] of added.entries()) counts[place]! += BigInt(value)
  latency.add(latencyBinOf(event.latencyMs))
}

const placeOf = (view: string, span: number, names: readonly (string | null)[]) =>
  JSON.stringify([view, span, ...names])
const textOf = (counts: readonly (bigint | number | string)[], latency: LatencySketch) =>
  `${counts.join(' ')} ${latency.toBytes().toString('hex')}`

/** Every telemetry record of the tenant, soft-deleted or not. */
export async function storedEvents(client: pg.ClientBase, tenant: string): Promise<CountedEvent[]> {
  const texts = await eventTexts(client, tenant)
  return texts.map((canonical) => {
    const record = JSON.parse(canonical)
    return {
      skillId: record.skill_id,
      archetypeId: record.archetype_id,
      userId: record.user_id,
      platform: record.llm_platform,
      model: record.llm_model,
      epochMs: Date.parse(record.ts),
      errorCode: record.success ? undefined : record.error_code,
      latencyMs: record.latency_ms,
      tokensIn: record.tokens_in,
      tokensOut: record.tokens_out,
      costEstimateMicros: microsOfUsd(record.cost_usd_estimate),
      costComputedMicros: record.cost_usd_computed === undefined ? undefined : microsOfUsd(record.cost_usd_computed),
    }
  })
}

const columns = `skill_id, archetype_id, user_id, llm_platform, llm_model, error_code, invocations::text, failures::text,
  tokens_in::text, tokens_out::text, cost_estimate_micros::text, cost_computed_micros::text, unpriced::text,
  encode(latency, 'hex')`

/** The rows of the grain `quarter` with the deltas that are not folded yet. */
export async function storedQuarters(client: pg.ClientBase, tenant: string): Promise<Rows> {
  const cells = new Map<string, Sums>()
  for (const row of await rowsOfGrain(client, tenant, 'quarter')) addRow(cells, row, 1)
  await addDeltas(client, tenant, cells, 1)
  return asRows(cells)
}

/**
 * By day, the numbers as rollup-types.ts tells a reader to add them up: the rows of days that are not open, the
 * quarters of those that are, and the deltas.
 */
export async function storedDays(client: pg.ClientBase, tenant: string): Promise<{ rows: Rows; open: number }> {
  const { rows } = await client.query<{ day: number }>(`select day from hub.rollup_open_days where tenant_id = $1`, [
    tenant,
  ])
  const open = new Set(rows.map(({ day }) => day))
  const cells = new Map<string, Sums>()
  for (const grain of ['quarter', 'day'] as const) {
    for (const row of await rowsOfGrain(client, tenant, grain)) {
      const isOpen = open.has(Math.floor(Number(row[1]) / 96))
      if (isOpen === (grain === 'quarter')) addRow(cells, row, 96)
    }
  }
  await addDeltas(client, tenant, cells, 96)
  return { rows: asRows(cells), open: open.size }
}

async function rowsOfGrain(client: pg.ClientBase, tenant: string, grain: string): Promise<(string | null)[][]> {
  const { rows } = await client.query<(string | null)[]>({
    text: `select view, first_quarter, ${columns} from hub.telemetry_rollups where tenant_id = $1 and grain = $2`,
    values: [tenant, grain],
    rowMode: 'array',
  })
  return rows
}

async function addDeltas(
  client: pg.ClientBase,
  tenant: string,
  sums: Map<string, Sums>,
  quarters: number,
): Promise<void> {
  const { rows } = await client.query<{ entries: string }>(
    'select entries from hub.telemetry_deltas where tenant_id = $1',
    [tenant],
  )
  const unfolded = new Cells()
  for (const { entries } of rows) addDelta(unfolded, entries)
  addCells(sums, unfolded, quarters)
}

/** What all of it sees at one moment. */
export async function inSnapshot<Seen>(client: pg.ClientBase, look: () => Promise<Seen>): Promise<Seen> {
  await client.query('begin isolation level repeatable read')
  try {
    return await look()
  } finally {
    await client.query('commit')
  }
}

/** Cells of the service, in the form of {@link expectedRows}. */
export function rowsOf(cells: Cells): Rows {
  const sums = new Map<string, Sums>()
  addCells(sums, cells, 1)
  return asRows(sums)
}

const asRows = (sums: Map<string, Sums>): Rows =>
  new Map([...sums].map(([place, { counts, latency }]) => [place, textOf(counts, latency)]))

function addCells(sums: Map<string, Sums>, cells: Cells, quarters: number): void {
  for (const { view, firstQuarter, dimensions, metrics } of cells.values()) {
    const { skill_id, archetype_id, user_id, llm_platform, llm_model, error_code } = dimensions
    const names = [skill_id, archetype_id, user_id, llm_platform, llm_model, error_code]
    const sum = sums.getOrInsertComputed(placeOf(view, Math.floor(firstQuarter / quarters), names), empty)
    for (const [place, value] of countsOf(metrics).entries()) sum.counts[place]! += BigInt(value)
    sum.latency.merge(metrics.latency)
  }
}

/** Several quarters make one place. */
function addRow(cells: Map<string, Sums>, row: (string | null)[], quarters: number): void {
  const [view, quarter, ...rest] = row
  const sum = cells.getOrInsertComputed(placeOf(view!, Math.floor(Number(quarter) / quarters), rest.slice(0, 6)), empty)
  for (const [place, value] of rest.slice(6, 13).entries()) sum.counts[place]! += BigInt(value!)
  sum.latency.addBytes(Buffer.from(rest[13]!, 'hex'))
}

function addDelta(cells: Cells, text: string): void {
  for (const { quarter, dimensions, addTo } of readDelta(text)) {
    const { skill_id, archetype_id, user_id, llm_platform, llm_model, error_code } = dimensions
    const ids = [skill_id, archetype_id, user_id, llm_platform, llm_model, error_code]
    for (const [view, places] of Object.entries(kept)) {
      const [skill, archetype, user, platform, model, error] = ids.map((id, place) =>
        places.includes(place) ? id : null,
      )
      const named = { skill_id: skill!, archetype_id: archetype!, user_id: user!, llm_platform: platform! }
      addTo(cells.metricsOf(view as 'all', quarter, { ...named, llm_model: model!, error_code: error! }))
    }
  }
}

function countsOf(metrics: Metrics): (bigint | number)[] {
  const { invocations, failures, tokensIn, tokensOut, costEstimate, costComputed, unpriced } = metrics
  return [invocations, failures, tokensIn.value, tokensOut.value, costEstimate.value, costComputed.value, unpriced]
}
