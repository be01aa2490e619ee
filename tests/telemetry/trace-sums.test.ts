import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { archetypes } from '../../demo/company.ts'
import { type DemoEvent, eventsOf } from '../../demo/events.ts'
import { periodEnding } from '../../demo/period.ts'
import { skills } from '../../demo/skills.ts'
import { parseTrace } from '../../demo/trace.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventTexts } from '../support/record-texts.ts'

/**
 * The sums over the trace that the demo lays over 30 days, to the micro-dollar: what the service says against what follows from
 * the rows by whole numbers alone.
 */

const rowsMax = 8000
const batch = 1000
const end = new Date('2026-01-05T10:20:00Z')
const rangeStart = '2025-12-01T00:00:00Z'
const range = `from=${rangeStart}&to=2026-01-06T00:00:00Z`
/** In the middle of the rows, and of a second. */
const middle = 4000

/** Billionths of a dollar for a token, in and out. */
type Nano = readonly [tokensIn: bigint, tokensOut: bigint]

/** What vendors ask for, in the catalogue too; written down again so that a slip in reading it shows. */
const listPrices: Record<string, Nano> = {
  'claude claude-sonnet-4-5': [3000n, 15_000n],
  'claude claude-opus-4-1': [15_000n, 75_000n],
  'claude claude-haiku-4-5': [1000n, 5000n],
  'chatgpt gpt-5': [1250n, 10_000n],
  'gemini gemini-2.5-pro': [1250n, 10_000n],
  'copilot gpt-4.1': [2000n, 8000n],
  'slack claude-haiku-4-5': [1000n, 5000n],
}

interface Override {
  llm_platform?: string
  llm_model: string
  input_usd_per_mtok: number
  output_usd_per_mtok: number
  effective_from: string
  nano: Nano
}

let hub: TestHub
let events: DemoEvent[]
/** The prices in force when the events came in, by model, from a time on. */
let atIngest: Override[]

beforeAll(async () => {
  const trace = parseTrace(readFileSync('demo/data/azure-llm-inference-conv-2023.csv', 'utf8'))
  events = eventsOf(trace.slice(0, rowsMax), periodEnding(end, 'UTC'))
  const when = events[middle]!.ts
  atIngest = [
    // Prices whose costs end on half a micro-dollar, and a platform's own before one of the model alone.
    override({ llm_platform: 'claude', llm_model: 'claude-haiku-4-5', effective_from: when }, [1500n, 4500n]),
    override({ llm_model: 'claude-haiku-4-5', effective_from: when }, [500n, 2500n]),
    override({ llm_platform: 'chatgpt', llm_model: 'gpt-5', effective_from: when }, [1n, 10_001n]),
  ]
  hub = await startHub()
  await putPrices(atIngest)
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', {
    body: { archetypes: archetypes.map(({ archetype_id, name }) => ({ archetype_id, name })) },
  })
  for (const { id, version, name } of skills) {
    const body = { record_type: 'skill_definition', skill_id: id, skill_version: version, name }
    expect((await hub.call('acme', 'POST', '/api/v1/hub/records', { body })).status).toBe(201)
  }
  for (let first = 0; first < events.length; first += batch) {
    const body = { events: events.slice(first, first + batch) }
    const answer = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body })
    expect(answer.body, answer.text.slice(0, 1000)).toMatchObject({ accepted: body.events.length, failed: 0 })
  }
})
afterAll(() => hub.stop())

function override(what: Pick<Override, 'llm_platform' | 'llm_model' | 'effective_from'>, nano: Nano): Override {
  const [input, output] = nano.map((price) => Number(price) / 1000) as [number, number]
  return { ...what, input_usd_per_mtok: input, output_usd_per_mtok: output, nano }
}

async function putPrices(overrides: readonly Override[]): Promise<void> {
  const prices = overrides.map(({ nano: _, ...price }) => price)
  const answer = await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices } })
  expect(answer.status, answer.text).toBe(200)
}

/** Micro-dollars, rounded half up; undefined without a price. */
function computedOf(event: DemoEvent, overrides: readonly Override[]): bigint | undefined {
  const inForce = (platform: string | undefined) =>
    overrides
      .filter(({ llm_platform, llm_model }) => llm_platform === platform && llm_model === event.llm_model)
      .filter(({ effective_from }) => effective_from <= event.ts)
      .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))
      .at(-1)?.nano
  const nano =
    inForce(event.llm_platform) ?? inForce(undefined) ?? listPrices[`${event.llm_platform} ${event.llm_model}`]
  if (!nano) return undefined
  return (BigInt(event.tokens_in) * nano[0] + BigInt(event.tokens_out) * nano[1] + 500n) / 1000n
}

/** `0.010203` → 10203n, by the digits that JSON has: six decimals at most. */
function microsOf(usd: number): bigint {
  const [text, sign, whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(String(usd)) ?? []
  if (text === undefined) throw new Error(`${usd} is no amount in micro-dollars`)
  const micros = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'))
  return sign ? -micros : micros
}

interface Sums {
  invocations: number
  unpriced: number
  estimate: bigint
  computed: bigint
}

function sumsOf(some: readonly DemoEvent[], overrides: readonly Override[]): Sums {
  const costs = some.map((event) => computedOf(event, overrides))
  return {
    invocations: some.length,
    unpriced: costs.filter((cost) => cost === undefined).length,
    estimate: some.reduce((sum, event) => sum + microsOf(event.cost_usd_estimate), 0n),
    computed: costs.reduce<bigint>((sum, cost) => sum + (cost ?? 0n), 0n),
  }
}

interface Row {
  key?: string
  invocations: number
  unpriced: number
  cost_usd_estimate: number
  cost_usd_computed: number
}

const sumsOfRow = ({ invocations, unpriced, cost_usd_estimate, cost_usd_computed }: Row): Sums => ({
  ...{ invocations, unpriced },
  ...{ estimate: microsOf(cost_usd_estimate), computed: microsOf(cost_usd_computed) },
})

/** Summary and reconciliation, in total and by every dimension, against the rows of the trace. */
async function expectNumbers(overrides: readonly Override[]): Promise<void> {
  const members = { skill: 'skill_id', archetype: 'archetype_id', user: 'user_id' } as const
  const more = { platform: 'llm_platform', model: 'llm_model' } as const
  for (const operation of ['summary', 'reconciliation']) {
    for (const [grouping, member] of Object.entries({ ...members, ...more })) {
      const query = `${range}&group_by=${grouping}&limit=1000`
      const { body } = await hub.call('acme', 'GET', `/api/v1/telemetry/${operation}?${query}`)
      expect(sumsOfRow(body.totals), operation).toEqual(sumsOf(events, overrides))
      const expected = Map.groupBy(events, (event) => event[member] ?? '')
      const rows = new Map(body.rows.map((row: Row) => [row.key ?? '', sumsOfRow(row)]))
      expect(rows, `${operation} by ${grouping}`).toEqual(
        new Map([...expected].map(([key, some]) => [key, sumsOf(some, overrides)])),
      )
      if (operation === 'summary') continue
      const variance = microsOf(body.totals.cost_usd_estimate) - microsOf(body.totals.cost_usd_computed)
      expect(microsOf(body.totals.variance_usd)).toBe(variance)
    }
  }
}

/** Each record, and by that the sum of all. */
async function expectRecords(): Promise<void> {
  const superuser = await hub.superuserClient()
  const texts = await eventTexts(superuser, 'acme')
  const costs = new Map(
    texts.map((canonical) => {
      const { metadata, cost_usd_estimate, cost_usd_computed } = JSON.parse(canonical)
      const computed = cost_usd_computed === undefined ? undefined : microsOf(cost_usd_computed)
      return [metadata.demo_row as number, { estimate: microsOf(cost_usd_estimate), computed }]
    }),
  )
  const expected = events.map((event) => ({
    estimate: microsOf(event.cost_usd_estimate),
    computed: computedOf(event, atIngest),
  }))
  expect(events.map(({ metadata }) => costs.get(metadata.demo_row))).toEqual(expected)
}

test('the trace has what makes it hard', () => {
  expect(events.length).toBe(rowsMax)
  const ofModel = (model: string) => events.filter(({ llm_model }) => llm_model === model)
  const models = new Set(Object.keys(listPrices).map((key) => key.split(' ')[1]!))
  for (const model of models) expect(ofModel(model).length).toBeGreaterThan(100)
  const { ts } = events[middle]!
  expect(ts).not.toMatch(/\.0+Z$/)
  expect(events.filter((event) => event.ts < ts).length).toBeGreaterThan(3000)
  const halves = ofModel('claude-haiku-4-5').filter((event) => (event.tokens_in + event.tokens_out) % 2 === 1)
  expect(halves.length).toBeGreaterThan(100)
})

test('as it came in', async () => {
  await expectRecords()
  await expectNumbers(atIngest)
})

test('folded, and rated again at other prices, in part and as a whole', async () => {
  const { rating } = hub.modules.telemetry
  const { rollups } = hub.modules.rollups
  const tenant = await hub.tenant('acme')
  const by = { actor: { operator: 'test' }, cause: { command: 'test' } }
  await rollups.settle('acme')
  await expectNumbers(atIngest)

  // Dearer from another time on, free from a third; the catalogue's price again for what had one of its own.
  const [quarter, third] = [events[2000]!.ts, events[6000]!.ts]
  const now = [
    override({ llm_platform: 'claude', llm_model: 'claude-sonnet-4-5', effective_from: quarter }, [3333n, 16_667n]),
    override({ llm_platform: 'claude', llm_model: 'claude-sonnet-4-5', effective_from: third }, [0n, 0n]),
    override({ llm_model: 'gpt-4.1', effective_from: quarter }, [7n, 0n]),
  ]
  await putPrices(now)
  const differing = (event: DemoEvent) => computedOf(event, atIngest) !== computedOf(event, now)
  const resultOf = (some: DemoEvent[], before: Sums, after: Sums) => ({
    ...{ checked: some.length, changed: some.filter(differing).length },
    cost_usd_computed_before: Number(before.computed) / 1e6,
    cost_usd_computed_after: Number(after.computed) / 1e6,
  })

  const tail = events.filter(({ ts }) => ts >= third)
  const rest = events.filter(({ ts }) => ts < third)
  expect(await rating.rate(tenant, { from: third, to: '2026-01-06T00:00:00Z' }, by)).toEqual(
    resultOf(tail, sumsOf(tail, atIngest), sumsOf(tail, now)),
  )
  const { body } = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${range}`)
  expect(microsOf(body.totals.cost_usd_computed)).toBe(sumsOf(rest, atIngest).computed + sumsOf(tail, now).computed)

  await rollups.settle('acme')
  const whole = await rating.rate(tenant, { from: rangeStart }, by)
  expect(whole).toMatchObject({ checked: events.length, changed: rest.filter(differing).length })
  expect(whole.changed).toBeGreaterThan(1000)
  await expectNumbers(now)
  await rollups.settle('acme')
  await expectNumbers(now)
  expect(await rating.rate(tenant, { from: rangeStart }, by)).toMatchObject({ changed: 0 })
  await rollups.rebuild('acme')
  await expectNumbers(now)
  await expectRecords()
})
