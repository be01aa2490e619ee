import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { type ModeB, modeB, provisionPath } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/** What is left of a tenant in Mode B in every corner of the service, once its key was destroyed. */

const needle = `zq${randomBytes(12).toString('hex')}`
const records = '/api/v1/hub/records'
const prices = '/api/v1/telemetry/prices'
const day = 'from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z'
let hub: TestHub
let b: ModeB
let client: pg.Client
let artifact: string
let purged: string
let exported: { job_id: string; download_url: string; manifest_url: string }

const key = { 'idempotency-key': 'the-same-request' }
const draft = { record_type: 'artifact', title: needle }

beforeAll(async () => {
  hub = await startHub()
  client = await hub.superuserClient()
  b = await modeB(hub, 'leaving')
  await b.ready()
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
  artifact = (await b.call('POST', records, draft, key)).body.record_id
  purged = (await b.call('POST', records, { record_type: 'artifact', title: needle })).body.record_id
  // One without a price, so that it is an exception.
  const events = [event({ skill_id: 'sum' }), event({ skill_id: 'sum', llm_model: 'in-house', metadata: { needle } })]
  const batch = await b.call('POST', '/api/v1/telemetry/events:batch', { events }, { 'idempotency-key': 'events' })
  expect(batch.body.accepted, batch.text).toBe(2)
  exported = await ended(await order())
  expect(exported).toMatchObject({ status: 'completed', verification_summary: { tampered: 0 } })
})
afterAll(() => hub.stop())

async function order(): Promise<string> {
  const answer = await b.call('POST', `${records}:export`, { format: 'jsonl', verify: true, include_provenance: true })
  expect(answer.status, answer.text).toBe(202)
  return answer.body.job_id
}

async function ended(jobId: string) {
  for (;;) {
    const { body } = await b.call('GET', `/api/v1/hub/exports/${jobId}`)
    if (!['queued', 'running'].includes(body.status)) return body
    await delay(20)
  }
}

async function stored(): Promise<string[]> {
  return Array.fromAsync(hub.modules.storage.list('exports/'))
}

const tenant = async () => (await hub.modules.tenants.directory.read('leaving'))!
const summary = async () => (await b.call('GET', `/api/v1/telemetry/summary?${day}&group_by=skill`)).body

async function raisePrice(usd: number) {
  const each = { llm_model: 'in-house', input_usd_per_mtok: usd, output_usd_per_mtok: usd }
  const put = await b.call('PUT', prices, { prices: [{ ...each, effective_from: '2026-01-01T00:00:00Z' }] })
  expect(put.status, put.text).toBe(200)
}

/** Rates the day again, and answers what its governance event says of it. */
async function rerate() {
  const before = (await b.events('telemetry.rerated')).length
  const started = await b.call('POST', `${prices}:rerate`, { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' })
  expect(started.status, started.text).toBeLessThan(300)
  for (;;) {
    const events = await b.events('telemetry.rerated')
    if (events.length > before) return events.at(-1)
    await delay(50)
  }
}

test('while the key is there, telemetry is summed up, rated again and reconciled', async () => {
  expect((await fetch(exported.download_url)).status).toBe(200)
  const exceptions = await b.call('GET', `/api/v1/telemetry/reconciliation/exceptions`)
  expect(exceptions.body, exceptions.text).toMatchObject({ items: [{ kind: 'unpriced' }] })
  await raisePrice(1)
  expect(await rerate()).toMatchObject({ details: { checked: 2 } })
})

test('the destruction takes exports with it: those that have ended and those that run', async () => {
  const sums = await summary()
  expect(JSON.stringify(sums)).toContain('sum')
  expect((await b.call('DELETE', `${records}/${purged}?reason=asked`)).status).toBe(200)
  const running = await order()
  const destroyed = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'leaving', reason: 'over' })
  expect(destroyed.status, destroyed.text).toBe(200)
  expect((await fetch(exported.download_url)).status).toBeGreaterThanOrEqual(400)
  expect((await fetch(exported.manifest_url)).status).toBeGreaterThanOrEqual(400)
  const last = await ended(running)
  if (last.status === 'completed') expect(await (await fetch(last.download_url)).text()).not.toContain(needle)
  else expect(['failed', 'expired']).toContain(last.status)
  await hub.modules.exports.settled()
  for (const chore of hub.modules.exports.chores) {
    while (await hub.test.database.withTenant('leaving', (tx) => chore.run(tx)));
  }
  expect((await stored()).filter((name) => name.includes(exported.job_id))).toEqual([])
  // Sums are figures, and stay.
  expect(await summary()).toEqual(sums)
})

test('nothing of the content stands anywhere in clear', async () => {
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'm')`,
  )
  for (const { name } of tables) {
    const { rows } = await client.query(`select 1 from ${name} t where strpos(lower(t::text), $1) > 0 limit 1`, [
      needle,
    ])
    expect(rows, name).toEqual([])
  }
  expect(hub.logLines.join('\n')).not.toContain(needle)
})

test('a request that is repeated is not done twice', async () => {
  const again = await b.call('POST', records, draft, key)
  expect([again.status, again.body.record_id], again.text).toEqual([201, artifact])
  expect((await b.call('POST', records, draft)).status).toBe(422)
  await b.call('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k2' } })
  expect((await b.call('POST', records, draft, key)).body).toEqual(again.body)
})

test('exceptions and ratings pass over what is gone, without calling it damaged', async () => {
  const exceptions = await b.call('GET', `/api/v1/telemetry/reconciliation/exceptions`)
  expect([exceptions.status, exceptions.body.items]).toEqual([200, []])
  expect((await b.call('GET', `/api/v1/telemetry/reconciliation?${day}`)).status).toBe(200)
  await raisePrice(2)
  const event = await rerate()
  expect(event).toMatchObject({ details: { checked: 0 } })
  expect(event).not.toHaveProperty('details.unreadable')
})

test('what is gone can still be purged, held and deleted for good, with its certificate', async () => {
  const hold = await b.call('POST', '/api/v1/hub/legal-holds', { name: 'x', reason: 'x', record_ids: [artifact] })
  expect([201, 404, 400]).toContain(hold.status)
  if (hold.status === 201) {
    const released = await b.call('POST', `/api/v1/hub/legal-holds/${hold.body.hold_id}:release`, { reason: 'over' })
    expect(released.status).toBe(200)
  }
  const asOf = new Date(Date.now() + 31 * 86_400_000).toISOString()
  expect(await hub.modules.hub.erasure.run(await tenant(), { asOf })).toMatchObject({ erased: 1 })
  const certificate = await b.call('GET', `${records}/${purged}/deletion-certificate`)
  expect([certificate.status, certificate.body.record_id], certificate.text).toEqual([200, purged])
  const first = await b.call('GET', '/api/v1/hub/log/entries?limit=1')
  expect(first.status).toBe(200)
  expect(await hub.modules.hub.sweeper.sweep(await tenant())).toMatchObject({ failed: 0, inconsistent: 0 })
  const audit = createLogAudit({
    database: hub.test.database,
    logs: hub.modules.log.logs,
    keys: hub.modules.keys.provenance,
  })
  expect(await audit.audit(await tenant(), [])).toMatchObject({ verified: true, failures: [] })
})
