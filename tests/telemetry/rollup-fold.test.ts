import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, TenantTx, TransactionMode } from '../../server/db/database.ts'
import { deltaOfDifferences } from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import { renameUser } from '../../server/modules/telemetry/rollups/rollup-erased-store.ts'
import { Rollups } from '../../server/modules/telemetry/rollups/rollup-service.ts'
import { insertDelta, waitForRollups } from '../../server/modules/telemetry/rollups/rollup-store.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { storeEventsInFull } from '../support/record-texts.ts'
import { event } from './events.ts'
import { expectedRows, inSnapshot, storedDays, storedEvents, storedQuarters } from './rollup-oracle.ts'

const tenants = ['acme', 'globex', 'cmode'] as const
const dayMs = 86_400_000

let hub: TestHub
let client: pg.Client
beforeAll(async () => {
  hub = await startHub({ poolSize: 12 })
  client = await hub.superuserClient()
  for (const tenant of tenants) {
    await prepareTelemetry(hub, tenant)
    await registerSkill(hub, tenant, 'reply')
    const body = { archetypes: [{ archetype_id: 'analyst' }, { archetype_id: 'seller' }] }
    expect((await hub.call(tenant, 'PUT', '/api/v1/roster/archetypes', { body })).status).toBe(200)
  }
})
afterAll(() => hub.stop())

const rollups = () => hub.modules.rollups.rollups
/** As another process would have it. */
const otherProcess = (errors: string[] = []) =>
  new Rollups({ database: hub.test.database, log: { error: (_, message) => errors.push(message) } })

const times = fc.oneof(
  fc.constantFrom(
    ...['0001-01-01T00:00:00Z', '0999-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z', '1970-01-01T00:00:00Z'],
    ...[
      '2025-12-31T23:44:59.999999Z',
      '2025-12-31T23:45:00Z',
      '2026-01-01T00:00:00.000001Z',
      '2026-01-01T05:45:00+05:45',
    ],
  ),
  fc.integer({ min: 0, max: 40 }).map((hour) => new Date(Date.UTC(2026, 0, 5, hour, 14, 59, 999)).toISOString()),
)
const anyEvent = fc
  .record({
    skill_id: fc.constantFrom('sum-up', 'reply'),
    archetype_id: fc.constantFrom('analyst', 'seller'),
    user_id: fc.constantFrom('user:a', 'user:b', 'user:c'),
    llm_platform: fc.constantFrom('claude', 'custom:own'),
    llm_model: fc.constantFrom('claude-3-haiku-20240307', 'no-such-model', undefined),
    ts: times,
    success: fc.boolean(),
    latency_ms: fc.constantFrom(1, 127, 128, 5000, 599_999),
    tokens_in: fc.constantFrom(0, 1000, 2 ** 31 - 1),
    tokens_out: fc.constantFrom(0, 7),
    cost_usd_estimate: fc.constantFrom(0, 0.000001, 12.5, 1_000_000_000),
  })
  .map((fields) => event({ ...fields, ...(fields.success ? {} : { error_code: 'timeout' }) }))

function someEvents(count: number, seed: number) {
  return fc.sample(anyEvent, { numRuns: count, seed })
}

async function ingest(tenant: TestTenant, count: number, seed: number): Promise<void> {
  const events = someEvents(count, seed)
  const [path, body] = count === 1 ? ['events', events[0]] : ['events:batch', { events }]
  const answer = await hub.call(tenant, 'POST', `/api/v1/telemetry/${path}`, { body })
  expect(answer.status).toBe(201)
  if (count > 1) expect(answer.body.accepted).toBe(count)
}

/** Quarters, and days as they are read, whatever is folded and open. Answers how many days are open. */
async function expectExact(tenant: TestTenant): Promise<number> {
  return inSnapshot(client, async () => {
    const events = await storedEvents(client, tenant)
    expect(await storedQuarters(client, tenant)).toEqual(expectedRows(events))
    const { rows, open } = await storedDays(client, tenant)
    expect(rows).toEqual(expectedRows(events, dayMs))
    return open
  })
}

const waitingDeltas = async (tenant: string) =>
  (await client.query('select 1 from hub.telemetry_deltas where tenant_id = $1', [tenant])).rowCount

/** Runs the loops over and over until `work` is done. */
async function meanwhile(
  pauseMs: number,
  loops: ((count: number) => Promise<unknown>)[],
  work: () => Promise<void>,
): Promise<void> {
  let done = false
  const running = loops.map(async (loop) => {
    for (let count = 0; !done; count += 1) {
      await loop(count)
      await delay(pauseMs)
    }
  })
  await work().finally(() => {
    done = true
  })
  await Promise.all(running)
}

test('rollups and unfolded deltas are at any moment what the records add up to', async () => {
  const folders = [rollups(), otherProcess(), otherProcess()].map((process, at) => async (count: number) => {
    const tenant = tenants[(at + count) % tenants.length]!
    await process.fold(tenant)
    for (const day of await process.daysToClose(tenant, 0)) await process.closeDay(tenant, day)
  })
  await meanwhile(1, folders, async () => {
    for (let round = 0; round < 12; round += 1) {
      const sizes = [1, 1, 3, 60]
      const arriving = tenants.flatMap((tenant, at) =>
        sizes.map((size, part) => ingest(tenant, size, round * 100 + at * 10 + part)),
      )
      await expectExact(tenants[round % tenants.length]!)
      await Promise.all(arriving)
    }
  })
  for (const tenant of tenants) {
    await expectExact(tenant)
    await rollups().settle(tenant)
    expect(await waitingDeltas(tenant)).toBe(0)
    expect(await expectExact(tenant)).toBe(0)
  }
})

describe('folding', () => {
  test('does nothing where there is nothing to do', async () => {
    await rollups().settle('acme')
    expect(await rollups().fold('acme')).toEqual({ deltas: 0, more: false })
    expect(await rollups().settle('acme')).toEqual({ deltas: 0, days: 0 })
  })

  test('is all or nothing: one that is cut off leaves deltas and rows as they were', async () => {
    await ingest('acme', 40, 7001)
    const before = await storedQuarters(client, 'acme')
    // The last thing that a fold does is to delete the deltas.
    await client.query(`create function pg_temp.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'cut off'; end $$`)
    await client.query(`create trigger cut before delete on hub.telemetry_deltas
      for each row execute function pg_temp.refuse()`)
    await expect(rollups().fold('acme')).rejects.toThrow('cut off')
    await client.query('drop trigger cut on hub.telemetry_deltas')
    expect(await waitingDeltas('acme')).toBe(1)
    expect(await storedQuarters(client, 'acme')).toEqual(before)
    expect(await rollups().fold('acme')).toEqual({ deltas: 1, more: false })
    await expectExact('acme')
  })

  test('leaves a tenant to the process that is at it', async () => {
    await ingest('acme', 2, 7002)
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock($1, hashtext('acme'))`, [0x6f726772])
    expect(await rollups().fold('acme')).toBe('busy')
    expect(await rollups().closeDay('acme', 0)).toBe('busy')
    await ingest('globex', 2, 7003)
    expect(await rollups().fold('globex')).toEqual({ deltas: 1, more: false })
    await client.query('commit')
    expect(await rollups().fold('acme')).toEqual({ deltas: 1, more: false })
  })

  test('steps over a delta that cannot be read, says so once, and a rebuild makes up for it', async () => {
    const errors: string[] = []
    const process = otherProcess(errors)
    await process.settle('acme')
    await ingest('acme', 5, 7004)
    await client.query(`update hub.telemetry_deltas set entries = '{"v":99}' where tenant_id = 'acme'`)
    await ingest('acme', 6, 7005)
    expect(await process.fold('acme')).toEqual({ deltas: 1, more: false })
    expect(await process.fold('acme')).toEqual({ deltas: 0, more: false })
    expect(errors).toEqual([expect.stringContaining('hub rollups rebuild')])
    expect(await waitingDeltas('acme')).toBe(1)

    const rebuilt = await process.rebuild('acme')
    expect(rebuilt).toMatchObject({ deltas: 1, unreadable: 0 })
    expect(await waitingDeltas('acme')).toBe(0)
    expect(await expectExact('acme')).toBe(0)
  })

  test('takes corrections: an event that is rated again moves its cost and adds no invocation', async () => {
    await rollups().settle('globex')
    const sums = async () =>
      (
        await client.query(`select sum(invocations)::int as n, sum(cost_computed_micros)::text as cost,
          sum(unpriced)::int as unpriced from hub.telemetry_rollups
          where tenant_id = 'globex' and view = 'skill' and grain = 'day'`)
      ).rows[0]
    const before = await sums()
    const of = {
      skillId: 'sum-up',
      archetypeId: 'analyst',
      userId: 'user:a',
      platform: 'claude',
      model: undefined,
      errorCode: undefined,
    }
    const corrections = deltaOfDifferences([{ ...of, epochMs: 0, costComputedMicros: 41, unpriced: -1 }])
    await hub.test.database.withTenant('globex', (tx) => insertDelta(tx, corrections))
    expect(await rollups().settle('globex')).toEqual({ deltas: 1, days: 1 })
    expect(await sums()).toEqual({
      n: before.n,
      cost: String(BigInt(before.cost) + 41n),
      unpriced: before.unpriced - 1,
    })
    await rollups().rebuild('globex')
    await expectExact('globex')
  })
})

describe('the work of a fold', () => {
  /** A database that counts the statements of its transactions. */
  function counting() {
    const seen = { statements: 0 }
    const database: Database = Object.create(hub.test.database, {
      withTenant: {
        value: (tenant: string, work: (tx: TenantTx) => Promise<unknown>, mode?: TransactionMode) =>
          hub.test.database.withTenant(
            tenant,
            (tx) => {
              const client = Object.create(tx.client, {
                query: {
                  value: (...args: Parameters<pg.PoolClient['query']>) => {
                    seen.statements += 1
                    return tx.client.query(...args)
                  },
                },
              })
              return work(Object.create(tx, { client: { value: client } }))
            },
            mode,
          ),
      },
    })
    return { seen, rollups: new Rollups({ database, log: { error: () => {} } }) }
  }

  test('is some statements for all views together, whatever the number of deltas', async () => {
    const { seen, rollups: counted } = counting()
    await rollups().settle('acme')
    const statementsOf = async (deltas: number) => {
      for (let at = 0; at < deltas; at += 1) await ingest('acme', 60, 8000 + at)
      seen.statements = 0
      expect(await counted.fold('acme')).toEqual({ deltas, more: false })
      await expectExact('acme')
      return seen.statements
    }
    const few = await statementsOf(1)
    expect(few).toBeGreaterThan(5)
    // Look, lock, list, read, two for each 500 rows, open days, delete.
    expect(few).toBeLessThanOrEqual(14)
    // The same combinations of dimensions again, eight times.
    expect(await statementsOf(8)).toBeLessThanOrEqual(2 * few)
  })
})

describe('compaction of a day', () => {
  /** Runs `between` before the given transaction of a compaction. */
  function interrupted(at: number, between: () => Promise<void>) {
    let transactions = 0
    const database: Database = Object.create(hub.test.database, {
      withTenant: {
        value: async (...args: Parameters<Database['withTenant']>) => {
          transactions += 1
          if (transactions === at) await between()
          return hub.test.database.withTenant(...args)
        },
      },
    })
    const process = new Rollups({ database, log: { error: () => {} } })
    return { process, transactions: () => transactions }
  }
  const openDays = () => rollups().daysToClose('acme', 0)
  const dayOfFold = async (seed: number) => {
    await rollups().settle('acme')
    await ingest('acme', 40, seed)
    await rollups().fold('acme')
    return (await openDays())[0]!
  }

  test('is one transaction for each view, which others may precede', async () => {
    const day = await dayOfFold(8100)
    const { process, transactions } = interrupted(0, async () => {})
    expect(await process.closeDay('acme', day)).toBe('closed')
    // Deletes, writes seven views, and closes.
    expect(transactions()).toBe(9)
    await expectExact('acme')
  })

  test('leaves a day open that changes between two of its transactions', async () => {
    for (const at of [2, 5, 9]) {
      const day = await dayOfFold(8200 + at)
      const { process } = interrupted(at, async () => {
        const event = someEvents(1, 8300 + at)[0]!
        const ts = new Date(day * dayMs).toISOString()
        const body = { ...event, ts }
        expect((await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body })).status).toBe(201)
        expect(await rollups().fold('acme')).toEqual({ deltas: 1, more: false })
      })
      expect(await process.closeDay('acme', day)).toBe('reopened')
      expect(await openDays()).toContain(day)
      await expectExact('acme')
      expect(await rollups().closeDay('acme', day)).toBe('closed')
      await expectExact('acme')
    }
  })

  test('leaves a day open whose users are renamed between two of its transactions', async () => {
    for (const at of [3, 8]) {
      const day = await dayOfFold(8400 + at)
      const other = `user:erased-${String(at).padStart(32, '0')}`
      const { process } = interrupted(at, () =>
        hub.test.database.withTenant('acme', async (tx) => {
          expect(await waitForRollups(tx)).toBe(true)
          await renameUser(tx, 'user:a', other)
        }),
      )
      expect(await process.closeDay('acme', day)).toBe('reopened')
      const left = async (user: string) =>
        (await client.query(`select from hub.telemetry_rollups where tenant_id = 'acme' and user_id = $1`, [user]))
          .rowCount
      expect(await left('user:a')).toBe(0)
      await hub.test.database.withTenant('acme', (tx) => renameUser(tx, other, 'user:a'))
      await rollups().settle('acme')
      await expectExact('acme')
    }
  })

  test('stops between two transactions', async () => {
    const day = await dayOfFold(8500)
    const stop = new AbortController()
    const { process, transactions } = interrupted(4, async () => stop.abort())
    expect(await process.closeDay('acme', day, stop.signal)).toBe('busy')
    expect(transactions()).toBe(4)
    expect(await openDays()).toContain(day)
    await rollups().settle('acme')
    expect(await expectExact('acme')).toBe(0)
  })
})

describe('a rebuild', () => {
  test('gives the same rows, of soft-deleted records too', async () => {
    await ingest('acme', 30, 7100)
    await rollups().settle('acme')
    const before = { quarters: await storedQuarters(client, 'acme'), days: await storedDays(client, 'acme') }
    const { rows } = await client.query<{ record_id: string }>(
      `select record_id from hub.records where tenant_id = 'acme' and record_type = 'telemetry_event' limit 3`,
    )
    for (const { record_id } of rows) {
      expect((await hub.call('acme', 'DELETE', `/api/v1/hub/records/${record_id}?reason=x`)).status).toBe(200)
    }
    await client.query(`update hub.telemetry_rollups set invocations = invocations + 1 where tenant_id = 'acme'`)
    const rebuilt = await rollups().rebuild('acme')
    expect(rebuilt.events).toBe((await storedEvents(client, 'acme')).length)
    expect(rebuilt.days).toBeGreaterThan(5)
    expect(await storedQuarters(client, 'acme')).toEqual(before.quarters)
    expect(await storedDays(client, 'acme')).toEqual(before.days)
  })

  test('is exact while events come in and others fold', async () => {
    const process = otherProcess()
    const writers = [0, 1, 2].map(
      // Only so many: else a slow rebuild would have the more to do the longer it takes.
      (writer) => async (count: number) => {
        if (count < 30) await ingest('globex', 1 + (count % 3) * 20, 9000 + writer * 100 + count)
      },
    )
    await meanwhile(20, [...writers, () => process.fold('globex')], async () => {
      for (let round = 0; round < 4; round += 1) {
        await rollups().rebuild('globex')
        await expectExact('globex')
      }
    })
    await expectExact('globex')
    await rollups().settle('globex')
    expect(await expectExact('globex')).toBe(0)
  })

  test('takes the last rating of an event instead of its frozen cost', async () => {
    await ingest('cmode', 20, 7200)
    const { rows } = await client.query<{ record_id: string }>(
      `select record_id from hub.records where tenant_id = 'cmode' and record_type = 'telemetry_event' limit 2`,
    )
    const rate = (id: string, cost: number | null) =>
      client.query(`insert into hub.telemetry_ratings values ('cmode', $1, $2, null, now())`, [id, cost])
    await rate(rows[0]!.record_id, 123_456_789)
    await rate(rows[1]!.record_id, null)
    await rollups().rebuild('cmode')
    const total = await client.query(
      `select sum(cost_computed_micros)::text as cost, sum(unpriced)::int as unpriced from hub.telemetry_rollups
       where tenant_id = 'cmode' and view = 'all' and grain = 'quarter'`,
    )
    await storeEventsInFull(client, 'cmode')
    const expected = await client.query(
      `select sum(coalesce(case when t.record_id is null then (r.canonical::json->>'cost_usd_computed')::numeric * 1000000
           else t.cost_computed_micros end, 0))::bigint::text as cost,
         (count(*) filter (where case when t.record_id is null then r.canonical::json->>'cost_usd_computed' is null
           else t.cost_computed_micros is null end))::int as unpriced
       from hub.records r left join hub.telemetry_ratings t using (tenant_id, record_id)
       where r.tenant_id = 'cmode' and r.record_type = 'telemetry_event'`,
    )
    expect(total.rows).toEqual(expected.rows)
    await client.query(`delete from hub.telemetry_ratings where tenant_id = 'cmode'`)
    await rollups().rebuild('cmode')
    await expectExact('cmode')
  })

  test('leaves out a record that is no event any more, and says so', async () => {
    await ingest('cmode', 3, 7201)
    await storeEventsInFull(client, 'cmode')
    const errors: string[] = []
    const broken = `update hub.records set canonical = $1 where tenant_id = 'cmode' and record_id = $2 returning canonical`
    const { rows } = await client.query<{ record_id: string; canonical: string }>(
      `select record_id, canonical from hub.records where tenant_id = 'cmode' and record_type = 'telemetry_event' limit 1`,
    )
    const { record_id, canonical } = rows[0]!
    for (const text of ['{', '{}', 'null', canonical.replace(/"latency_ms":\d+/, '"latency_ms":0')]) {
      await client.query(broken, [text, record_id])
      expect(await otherProcess(errors).rebuild('cmode')).toMatchObject({ unreadable: 1 })
    }
    expect(errors.length).toBe(4)
    await client.query(broken, [canonical, record_id])
    await rollups().rebuild('cmode')
    await expectExact('cmode')
  })
})
