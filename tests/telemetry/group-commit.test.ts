import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordPartitionOf } from '../../server/modules/records/record-copy.ts'
import { event } from './events.ts'
import { openTelemetryLab } from './telemetry-lab.ts'

/** Groups of events on a real database, of one process and of two that meet there. */

let lab: Awaited<ReturnType<typeof openTelemetryLab>>
beforeAll(async () => {
  lab = await openTelemetryLab()
})
afterAll(() => lab.drop())

async function countsOf(tenant: string) {
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query<{ records: number; transactions: number; seals: number; deltas: number }>(
    `select count(*)::int as records, count(distinct xmin::text)::int as transactions,
            count(distinct seal_id)::int as seals,
            (select count(*)::int from hub.telemetry_deltas where tenant_id = $1) as deltas
     from hub.records where tenant_id = $1 and record_type = 'telemetry_event'`,
    [tenant],
  )
  return rows[0]!
}

const slugOf = (error: { slug?: string }) => error.slug ?? String(error)

test('events that arrive together share transactions and seals, and each is answered its own record', async () => {
  const caller = await lab.openTenant('together')
  const { telemetry } = lab.openProcess()
  await telemetry.ingestEvent(caller, event(), undefined)
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, at) => telemetry.ingestEvent(caller, event({ latency_ms: at + 1 }), undefined)),
  )
  const stored = await lab.canonicalsOf('together', 'telemetry_event')
  const latencies = new Map(stored.map((record) => [record.record_id, record.latency_ms]))
  expect(answers.map(({ answer }) => latencies.get(answer.record_id))).toEqual(answers.map((_, at) => at + 1))
  const { records, transactions, seals, deltas } = await countsOf('together')
  expect(records).toBe(301)
  expect(transactions).toBeLessThan(10)
  expect(seals).toBeLessThan(15)
  expect(deltas).toBe(transactions)
})

test('two processes that use the same keys in any order store each event once, and none waits for the other for ever', async () => {
  const caller = await lab.openTenant('same-keys')
  const processes = [lab.openProcess(), lab.openProcess()]
  const keys = Array.from({ length: 60 }, (_, at) => `key-${at}`)
  const orders = [keys, [...keys].reverse(), [...keys].sort((a, b) => a.slice(-1).localeCompare(b.slice(-1)))]
  const answers = await Promise.all(
    orders.flatMap((order) =>
      processes.flatMap(({ telemetry }) =>
        order.map(async (key) => {
          const { answer, replayed } = await telemetry.ingestEvent(caller, event({ skill_version: '1.0.0' }), key)
          return { key, id: answer.record_id, replayed }
        }),
      ),
    ),
  )
  for (const sameKey of Map.groupBy(answers, ({ key }) => key).values()) {
    expect(new Set(sameKey.map(({ id }) => id)).size).toBe(1)
    expect(sameKey.filter(({ replayed }) => !replayed)).toHaveLength(1)
  }
  expect((await countsOf('same-keys')).records).toBe(60)
})

test('a key that another transaction holds open keeps only its own event waiting', async () => {
  const caller = await lab.openTenant('held-key')
  const { telemetry } = lab.openProcess()
  await telemetry.ingestEvent(caller, event(), 'first-of-all')
  const superuser = await lab.superuserClient()
  const held = await lab.openProcess().telemetry.ingestEvent(caller, event(), 'held')
  await superuser.query('begin')
  const { rows } = await superuser.query(`delete from hub.idempotency_keys where tenant_id = 'held-key' returning *`)
  expect(rows).toHaveLength(2)
  const waiting = telemetry.ingestEvent(caller, event(), 'held')
  const others = Array.from({ length: 20 }, (_, at) => telemetry.ingestEvent(caller, event(), `free-${at}`))
  await Promise.all(others)
  expect(await Promise.race([waiting, delay(50, 'waits')])).toBe('waits')
  await superuser.query('rollback')
  expect(await waiting).toMatchObject({ replayed: true, answer: { record_id: held.answer.record_id } })
})

test('an event that PostgreSQL refuses fails alone', async () => {
  const caller = await lab.openTenant('one-bad')
  const { telemetry } = lab.openProcess()
  const { answer } = await telemetry.ingestEvent(caller, event(), undefined)
  const superuser = await lab.superuserClient()
  const partition = `hub.${recordPartitionOf(answer.record_id)}`
  await superuser.query(`alter table ${partition} add constraint no_bad check (user_id <> 'user:bad') not valid`)
  try {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        telemetry
          .ingestEvent(caller, event(at === 17 ? { user_id: 'user:bad' } : {}), at % 2 ? `key-${at}` : undefined)
          .then(() => 'stored', slugOf),
      ),
    )
    expect(outcomes.filter((outcome) => outcome !== 'stored')).toHaveLength(1)
    expect(outcomes[17]).toMatch(/no_bad/)
    expect((await countsOf('one-bad')).records).toBe(50)
  } finally {
    await superuser.query(`alter table ${partition} drop constraint no_bad`)
  }
})

test('a repeated key is answered as at first, also when the skill has been retired since', async () => {
  const caller = await lab.openTenant('retired-since')
  const { telemetry } = lab.openProcess()
  const first = await telemetry.ingestEvent(caller, event(), 'key')
  await lab.setSkill('retired-since', 'sum-up', 'retired')
  const { telemetry: later } = lab.openProcess()
  expect(await later.ingestEvent(caller, event(), 'key')).toEqual({ answer: first.answer, replayed: true })
  await expect(later.ingestEvent(caller, event(), 'another')).rejects.toMatchObject({ slug: 'skill-not-registered' })
})
