import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { expectGuarded, expectProblem, query } from './record-cases.ts'
import { january, sendJanuary } from './summary-cases.ts'

const path = '/api/v1/telemetry/prices:rerate'
const body = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
  await sendJanuary(hub)
})
afterAll(() => hub.stop())

const rerate = (sent: unknown, tenant: TestTenant = 'acme') => hub.call(tenant, 'POST', path, { body: sent })

async function price(tenant: TestTenant, ...prices: object[]): Promise<void> {
  const answer = await hub.call(tenant, 'PUT', '/api/v1/telemetry/prices', { body: { prices } })
  expect(answer.status, answer.text).toBe(200)
}

/** In dollars per million tokens, for the model of the events on any platform. */
const haiku = (usd: number, model = 'claude-3-haiku-20240307') => ({
  ...{ llm_model: model, input_usd_per_mtok: usd, output_usd_per_mtok: usd },
  effective_from: '2026-01-06T00:00:00Z',
})

async function eventsOf(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  const { records } = await query(hub, tenant, '?record_type=governance_event&event_kind=telemetry.rerated')
  return records
}

/** Waits for the governance event of a job. */
async function ended(tenant: TestTenant, jobId: string) {
  const find = async () => (await eventsOf(tenant)).find(({ details }) => Object(details).job_id === jobId)
  await expect.poll(find, { interval: 100 }).toBeDefined()
  return (await find())!
}

async function totals(tenant: TestTenant = 'acme', parameters = '') {
  const answer = await hub.call(tenant, 'GET', `/api/v1/telemetry/summary?${january}${parameters}`)
  return answer.body.totals
}

test('stored events follow the prices of now, and the numbers follow them', async () => {
  const others = [await totals('globex'), await totals('cmode')]
  const { records: before } = await query(hub, 'acme', '?record_type=telemetry_event')
  expect(await totals()).toMatchObject({ cost_usd_computed: 0.0015, unpriced: 2 })
  // Of the five events the last is of `in-house`, at noon of the 6th; the fourth names no model.
  await price('acme', haiku(1, 'in-house'), haiku(9))
  const answer = await rerate(body)
  expect(answer.status, answer.text).toBe(202)
  expect(answer.body).toEqual({ job_id: expect.stringMatching(/^[0-9a-f-]{36}$/), status: 'queued' })

  const event = await ended('acme', answer.body.job_id)
  expect(event).toMatchObject({
    created_by: 'service:hub',
    subject: 'tenant:acme',
    details: {
      job_id: answer.body.job_id,
      from: '2026-01-01T00:00:00.000000Z',
      to: '2026-02-01T00:00:00.000000Z',
      ...{ checked: 5, changed: 1, cost_usd_computed_before: 0.0015, cost_usd_computed_after: 0.0027 },
      ...{ actor: await hub.clientId('acme'), request_id: answer.headers['x-service-request-id'] },
    },
  })
  expect(await totals()).toMatchObject({ invocations: 5, cost_usd_computed: 0.0027, unpriced: 1 })
  expect(await totals('acme', '&llm_model=in-house')).toMatchObject({
    ...{ invocations: 1, tokens_in: 1000, cost_usd_estimate: 2, cost_usd_computed: 0.0012, unpriced: 0 },
  })
  const { records: after } = await query(hub, 'acme', '?record_type=telemetry_event&verify=true')
  expect(after.every((record: { verification: { verified: boolean } }) => record.verification.verified)).toBe(true)
  expect(after.map(({ verification: _, ...record }: Record<string, unknown>) => record)).toEqual(before)
  expect([await totals('globex'), await totals('cmode')]).toEqual(others)
})

test('the range is of ts, from its first instant and without its last', async () => {
  // The events of acme are at 09:30:00.123456 and 22:59:59.999999 on the 5th, at 23:00, and two on the 6th.
  const ranges: [from: string, to: string, checked: number][] = [
    ['2026-01-05T09:30:00.123456Z', '2026-01-05T22:59:59.999999Z', 1],
    ['2026-01-05T09:30:00.123457Z', '2026-01-05T23:00:00Z', 1],
    ['2026-01-06T00:00:00+01:00', '2026-01-06T00:00:00Z', 1],
    ['2026-01-06T00:00:00.000001Z', '2026-01-06T12:00:00Z', 0],
    ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 5],
  ]
  const tenant = await hub.tenant('acme')
  const by = { actor: { operator: 'test' }, cause: { command: 'test' } }
  // At once, since each waits for two seconds.
  const reports = await Promise.all(
    ranges.map(([from, to]) => hub.modules.telemetry.rating.rate(tenant, { from, to }, by)),
  )
  expect(reports).toMatchObject(ranges.map(([, , checked]) => ({ checked })))
})

test('without `to` it goes up to now, and for a tenant without events comes to nothing', async () => {
  const beganMs = Date.now()
  const { body: queued } = await rerate({ from: '2026-01-06T00:00:00Z' }, 'cmode')
  const { details } = (await ended('cmode', queued.job_id)) as { details: { to: string } }
  expect(details).toMatchObject({ checked: 0, changed: 0, cost_usd_computed_before: 0, cost_usd_computed_after: 0 })
  expect(Date.parse(details.to)).toBeGreaterThanOrEqual(beganMs)
  expect(Date.parse(details.to)).toBeLessThanOrEqual(Date.now())
})

test.each<[sent: unknown, ...pointers: string[]]>([
  [{}, '/from'],
  [{ to: body.to }, '/from'],
  [{ from: 'yesterday' }, '/from'],
  [{ from: 'yesterday', to: '2026-02-30T00:00:00Z' }, '/from', '/to'],
  [{ from: 20260101 }, '/from'],
  [{ from: body.from, to: null }, '/to'],
  [{ from: '2026-01-05' }, '/from'],
  [{ from: body.to, to: body.from }, '/from'],
  [{ from: body.from, to: '2026-01-01T01:00:00+01:00' }, '/from'],
  [{ from: '2999-01-01T00:00:00Z' }, '/from'],
  [{ ...body, tenant_id: 'globex' }, '/tenant_id'],
  [{ ...body, kind: 'unpriced', job_id: 'x' }, '/job_id', '/kind'],
])('%j is refused', async (sent, ...pointers) => {
  const before = (await eventsOf('acme')).length
  expectProblem(await rerate(sent), 'validation-failed', ...pointers)
  expect((await eventsOf('acme')).length).toBe(before)
})

test('not without token, tenant or every scope', async () => {
  await expectGuarded(hub, 'POST', path, {
    body,
    lacking: ['hub:read', 'hub:write', 'hub:purge', 'telemetry:read', 'telemetry:write', 'connector:admin'],
  })
})
