import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/**
 * The attacks of the threat list, by their numbers, against the whole service. Proven elsewhere:
 *  1 tenant header swapped: tenant-isolation.test.ts, order-of-checks.test.ts
 *  1 to 5 in full: attacks-tokens.test.ts; forged tokens also auth/token-attacks.test.ts and auth/wycheproof.test.ts
 *  4 in another process: auth/revocation-across-hubs.test.ts
 *  6 a cursor of another tenant or query: tenant-isolation.test.ts, api/query-records.test.ts; any bit: auth/cursor.test.ts
 *  8 addresses inside: outbound/addresses.test.ts, outbound/connecting.test.ts; 8 and 9 when configured: api/configure-sso.test.ts
 *  7 attacks-exports.test.ts
 * 10 another tenant's idempotency key: tenant-isolation.test.ts
 * 13 attacks-json.test.ts
 * 15, 20 attacks-secrets.test.ts
 * 16 a cookie that is there twice: auth/sessions-attacks.test.ts
 * 17, 18 return_to and callbacks of no login: auth/oidc-attacks.test.ts
 */

const records = '/api/v1/hub/records'
let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
afterAll(() => hub.stop())

const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)

test('14 a gzip bomb is 413, by its inflated size, and costs little memory', async () => {
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024, ' '))
  const headers = { 'content-encoding': 'gzip' }
  const memoryBefore = process.memoryUsage().rss
  for (const path of ['/api/v1/telemetry/events:batch', '/api/v1/telemetry/events', records]) {
    const answer = await hub.call('acme', 'POST', path, { body: bomb, headers })
    expect([answer.status, slugOf(answer)]).toEqual([413, 'payload-too-large'])
  }
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(100 * 1024 * 1024)
})

test('19 a body may not set what the server sets', async () => {
  const forged = {
    ...{ record_id: randomUUID(), tenant_id: 'acme', created_at: '2020-01-01T00:00:00Z', created_by: 'service:hub' },
    ...{
      provenance_hash: `sha256:${'0'.repeat(64)}`,
      provenance_cosign: 'omhc1.x',
      schema_version: '1.0',
      is_purged: false,
    },
    ...{ cost_usd_computed: 0, price_source: 'mine', verification: {}, seal_id: randomUUID(), salt: '' },
  }
  const bodies: [string, object][] = [
    [records, { record_type: 'artifact', title: 'x' }],
    [records, { record_type: 'output', skill_id: 'sum-up' }],
    [records, { record_type: 'governance_event', event_kind: 'custom.x' }],
    ['/api/v1/telemetry/events', event()],
  ]
  for (const [path, body] of bodies) {
    for (const [name, value] of Object.entries(forged)) {
      const answer = await hub.call('acme', 'POST', path, { body: { ...body, [name]: value } })
      expect([answer.status, answer.body.errors[0].pointer], name).toEqual([400, `/${name}`])
    }
  }
  const events = Object.entries(forged).map(([name, value]) => ({ ...event(), [name]: value }))
  const batch = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect([batch.body.accepted, batch.body.failed]).toEqual([0, events.length])
  for (const kind of ['hub.tamper_detected', 'tenant.live', 'Custom.x', 'custom', ' custom.x', 'custom.\n']) {
    const body = { record_type: 'governance_event', event_kind: kind }
    expect((await hub.call('acme', 'POST', records, { body })).status, kind).toBe(400)
  }
})

test('19 an export is of the caller’s tenant, whatever its filter says', async () => {
  const order = (filter: object) => hub.call('acme', 'POST', `${records}:export`, { body: { filter } })
  for (const tenant_id of ['globex', 'nobody-has-this', 'ACME', 'acme ']) {
    const answer = await order({ tenant_id })
    expect([answer.status, slugOf(answer), answer.body.tenant_slug]).toEqual([403, 'invalid-tenant', tenant_id])
  }
  for (const forged of [{ tenant_id: ['globex'] }, { tenant_id: null }, { tenant: 'globex' }, { $or: [] }]) {
    expect((await order(forged)).status, JSON.stringify(forged)).toBe(400)
  }
  const own = await order({ tenant_id: 'acme' })
  expect(own.status).toBe(202)
})
