import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { afterEach, expect, test, vi } from 'vitest'
import { planCapacity } from '../../cli/capacity/capacity-plan.ts'
import { cpuMicrosOf, measuredCosts } from '../../cli/capacity/measured-costs.ts'
import { createProgram } from '../../cli/program.ts'

const root = join(import.meta.dirname, '../..')
const load = { eventsPerDay: 8_640_000, eventsPerRequest: 100, peak: 5, retentionDays: 30, tenants: 10 }
const machine = { cores: 16, diskGb: 2000 }

afterEach(() => {
  vi.restoreAllMocks()
})

async function capacity(...args: string[]): Promise<string> {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const program = await createProgram('capacity')
  await program.parseAsync(['capacity', ...args], { from: 'user' })
  return written.mock.calls.map(([text]) => String(text)).join('')
}

test.each([
  ['batch', 'Node µs', measuredCosts.batched],
  ['single', 'server µs', measuredCosts.single],
] as const)('the costs of %s are those of the last results', (benchmark, column, costs) => {
  const text = readFileSync(join(root, `bench/results/${benchmark}.json`), 'utf8')
  const { tables } = JSON.parse(text) as { tables: Record<string, Record<string, unknown>[]> }
  const row = Object.values(tables)
    .flat()
    .find(({ what }) => String(what).endsWith('a key on each request'))!
  expect({ hub: row[column], database: row['PostgreSQL µs'] }).toEqual(costs)
})

test('a request has a fixed cost, which its events share', () => {
  expect(cpuMicrosOf('hub', 1)).toBeCloseTo(80.1)
  expect(cpuMicrosOf('hub', 1000)).toBeCloseTo(28.5)
  expect(cpuMicrosOf('database', 10)).toBeGreaterThan(cpuMicrosOf('database', 100))
})

test('rates, cores, disk and WAL follow from the events', () => {
  const plan = planCapacity(load, machine)
  expect(plan.events_per_second).toEqual({ mean: 100, peak: 500 })
  expect(plan.requests_per_minute_of_tenant).toBeCloseTo(30)
  expect(plan.cores.hub).toBeCloseTo((500 * cpuMicrosOf('hub', 100)) / 600_000)
  expect(plan.stored_events).toBe(259_200_000)
  expect(plan.disk_bytes).toBeCloseTo(259_200_000 * 1100 * 1.5)
  expect(plan.wal_bytes).toEqual({ per_day: 8_640_000 * 1600, per_second_at_peak: 500 * 1600 })
  expect(plan).toMatchObject({ one_machine: true, hub_servers: 0, database_servers: 1 })
})

test.each([
  ['a disk that is too small', {}, { cores: 16, diskGb: 300 }, ['machine of its own', '2 would']],
  ['cores of one machine', { eventsPerDay: 3e9, retentionDays: 1 }, { cores: 16, diskGb: 1e6 }, ['machine of its own']],
  ['machines for the Hub', { eventsPerDay: 6e10, retentionDays: 1 }, { cores: 64, diskGb: 1e6 }, ['HUB_VALKEY_URL']],
  ['cores of one process', { eventsPerDay: 6e8, retentionDays: 1 }, { cores: 64, diskGb: 1e6 }, ['HUB_WORKERS=2']],
  ['a rate limit', { eventsPerDay: 6e9, eventsPerRequest: 1, tenants: 1 }, machine, ['put 209 events or more']],
  ['a rate limit of batches', { eventsPerDay: 1e12, eventsPerRequest: 1000, tenants: 1 }, machine, ['raise its limit']],
])('%s is named', (_, changes, kind, parts) => {
  const advice = planCapacity({ ...load, ...changes }, kind).advice.join(' ')
  for (const part of parts) expect(advice).toContain(part)
})

test('the examples of the documentation are what the command prints', async () => {
  const page = readFileSync(join(root, 'docs/capacity.md'), 'utf8')
  const examples = [...page.matchAll(/^ {4}npm run hub -- capacity (.*)\n\n((?: {4}.*\n)+)/gm)]
  expect(examples).toHaveLength(3)
  for (const [, args = '', printed = ''] of examples) {
    vi.restoreAllMocks()
    expect(await capacity(...args.split(' '))).toBe(printed.replaceAll(/^ {4}/gm, ''))
  }
})

test('--json prints one object', async () => {
  const plan = JSON.parse(await capacity('--events-per-day', '8640000', '--tenants', '10', '--json')) as object
  expect(plan).toMatchObject({ events_per_second: { mean: 100, peak: 500 }, one_machine: false })
})

test.each([
  [[], 'required option'],
  [['--events-per-day', '0'], 'whole number from 1 to'],
  [['--events-per-day', '1.5'], 'whole number'],
  [['--events-per-day', '10', '--peak', '0.5'], 'number from 1 to 1000'],
  [['--events-per-day', '10', '--peak', ''], 'number from 1 to 1000'],
  [['--events-per-day', '10', '--events-per-request', '1001'], 'from 1 to 1000'],
])('%j is refused', async (args, message) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await expect(capacity(...args)).rejects.toThrow(CommanderError)
  expect(written.mock.calls.join('')).toContain(message)
})
