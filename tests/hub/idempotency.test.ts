import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { canonicalize, type JsonValue } from '../../provenance/index.ts'
import type { IngestStepRejected } from '../../server/db/ingest-script.ts'
import { canonicalPieces } from '../../server/modules/idempotency/idempotency-digest.ts'
import { IdempotencyKeys } from '../../server/modules/idempotency/idempotency-service.ts'
import type { Idempotency } from '../../server/modules/idempotency/idempotency-types.ts'
import { openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let now = Date.parse('2026-03-14T12:00:00Z')
let idempotency: Idempotency

beforeAll(async () => {
  lab = await openRecordLab()
  idempotency = new IdempotencyKeys({ database: lab.database, now: () => now })
})

afterAll(() => lab.drop())

interface Options {
  fail?: boolean
  /** How long the transaction stays open after the claim. */
  ms?: number
  claimed?: () => void
}

/** Counts how often the work was done; `role` is that of the transaction that claims. */
function work(role: 'app' | 'ingest' = 'app') {
  let done = 0
  const run = async (tenant: string, key: string, body: unknown, options: Options = {}) =>
    idempotency.once(
      await idempotency.requestOf(tenant, key, '/path', body as never),
      async (claim) => {
        const answer = { number: done + 1 }
        if (role === 'app') {
          await lab.database.withTenant(tenant, async (tx) => {
            await claim?.within(tx, answer)
            options.claimed?.()
            await delay(options.ms ?? 0)
            if (options.fail) throw new Error('refused')
            done += 1
          })
        } else {
          const { steps, refused } = idempotency.claimSteps(
            claim ? [{ requests: claim.requests, answers: [answer] }] : [],
            true,
          )
          await lab.database.ingest(tenant, steps).catch((error: IngestStepRejected) => {
            throw refused(error.step, error.code) ? claim!.taken() : error
          })
          done += 1
        }
        return { ...answer, replayed: false }
      },
      async (answer) => ({ number: (answer as { number: number }).number, replayed: true }),
    )
  return { run, count: () => done }
}

test.each(['app', 'ingest'] as const)('a repeated request of role %s is answered, not done again', async (role) => {
  const { run, count } = work(role)
  expect(await run('acme', `repeat-${role}`, { a: 1, b: 2 })).toEqual({ number: 1, replayed: false })
  expect(await run('acme', `repeat-${role}`, { b: 2, a: 1 })).toEqual({ number: 1, replayed: true })
  expect(count()).toBe(1)
})

test.each(['app', 'ingest'] as const)('duplicates in flight of role %s wait for the first', async (role) => {
  const { run, count } = work(role)
  const answers = await Promise.all(Array.from({ length: 6 }, () => run('acme', `race-${role}`, [1], { ms: 30 })))
  expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1)
  expect(new Set(answers.map((answer) => answer.number)).size).toBe(1)
  expect(count()).toBe(1)
})

test('the same key with another payload or path is a conflict; in another tenant it is another key', async () => {
  const { run } = work()
  await run('acme', 'conflict', { a: 1 })
  await expect(run('acme', 'conflict', { a: 2 })).rejects.toMatchObject({ slug: 'idempotency-conflict' })
  const elsewhere = await idempotency.requestOf('acme', 'conflict', '/elsewhere', { a: 1 })
  const never = async () => {
    throw new Error('not to be called')
  }
  await expect(idempotency.once(elsewhere, never, never)).rejects.toMatchObject({ slug: 'idempotency-conflict' })
  expect(await run('globex', 'conflict', { a: 2 })).toMatchObject({ replayed: false })
})

test('a refused request keeps nothing, and a duplicate waiting for it is done', async () => {
  const { run, count } = work()
  const claimed = Promise.withResolvers<void>()
  const [refused, second] = await Promise.allSettled([
    run('acme', 'refused', {}, { fail: true, ms: 50, claimed: claimed.resolve }),
    claimed.promise.then(() => run('acme', 'refused', {})),
  ])
  expect(refused.status).toBe('rejected')
  expect(second).toMatchObject({ status: 'fulfilled', value: { replayed: false } })
  expect(count()).toBe(1)
})

test('a key can be used anew after 24 hours', async () => {
  const { run, count } = work()
  await run('acme', 'old', { a: 1 })
  now += 24 * 3_600_000
  expect(await run('acme', 'old', { a: 1 })).toMatchObject({ replayed: true })
  now += 1
  expect(await run('acme', 'old', { a: 2 })).toMatchObject({ replayed: false })
  expect(count()).toBe(2)
})

test.each(['', 'a b', 'é', 'x'.repeat(256), 'a\n'])('the key %j is refused', async (key) => {
  await expect(idempotency.requestOf('acme', key, '/path', {})).rejects.toMatchObject({ slug: 'validation-failed' })
})

test('the digest is that of the canonical body, in pieces with the events of a batch each alone', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (body) => {
      expect([...canonicalPieces(body as JsonValue)].join('')).toBe(canonicalize(body as JsonValue))
    }),
    { numRuns: 300, seed: 7 },
  )
  const batch = { events: Array.from({ length: 1000 }, (_, at) => ({ b: at, a: 'é' })), also: [] }
  const pieces = [...canonicalPieces(batch)]
  expect(pieces.join('')).toBe(canonicalize(batch))
  expect(pieces.length).toBeGreaterThan(1000)
})

test('neither key nor payload is stored', async () => {
  const { run } = work()
  await run('acme', 'secret-key', { secret: 'payload' })
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query('select k::text as row from hub.idempotency_keys k')
  expect(rows.length).toBeGreaterThan(0)
  for (const { row } of rows) expect(row).not.toMatch(/secret|payload/)
})

test('keys that have expired are forgotten in parts, and the others kept', async () => {
  await lab.database.withTenant('globex', (tx) =>
    tx.client.query(
      `insert into hub.idempotency_keys (tenant_id, key_digest, request_digest, answer, created_at)
       select 'globex', decode(lpad(to_hex(n), 64, '0'), 'hex'), '\\x00', '{}',
              $1::timestamptz - case when n <= 10001 then interval '25 hours' else interval '1 hour' end
       from generate_series(1, 10003) n`,
      [new Date(now).toISOString()],
    ),
  )
  const forget = () => lab.database.withTenant('globex', (tx) => idempotency.deleteExpired(tx))
  expect(await forget()).toBe(true)
  expect(await forget()).toBe(false)
  const left = await lab.database.withTenant('globex', (tx) =>
    tx.client.query(
      `select count(*) as keys from hub.idempotency_keys where tenant_id = 'globex' and request_digest = '\\x00'`,
    ),
  )
  expect(left.rows[0].keys).toBe(2)
})
