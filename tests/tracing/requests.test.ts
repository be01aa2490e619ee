import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { traceJob, useTracer } from '../../server/tracing/current-work.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { type RecordedSpan, recordSpans } from './recorded-spans.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

let spans: RecordedSpan[]
let hub: TestHub
beforeAll(async () => {
  spans = recordSpans()
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
beforeEach(() => {
  spans.length = 0
})
afterAll(async () => {
  useTracer(undefined)
  await hub.stop()
})

/** Returns the span of the only request, once it has ended. */
async function requestSpan(): Promise<RecordedSpan> {
  await expect.poll(() => spans.filter(({ kind, failed }) => kind === 'server' && failed !== undefined)).toHaveLength(1)
  return spans.find(({ kind }) => kind === 'server')!
}

const below = (parent: RecordedSpan) => spans.filter((span) => span.parent === parent)

test('a request continues the trace of the caller, and its statements are below it', async () => {
  const path = '/api/v1/hub/records?limit=1'
  expect(await hub.call('acme', 'GET', path, { headers: { traceparent } })).toMatchObject({ status: 200 })
  const request = await requestSpan()
  expect(request).toMatchObject({ name: 'GET /api/v1/hub/records', parent: traceparent, failed: null })
  expect(request.attributes).toMatchObject({
    'http.request.method': 'GET',
    'http.route': '/api/v1/hub/records',
    'http.response.status_code': 200,
    'hub.operation': 'queryRecords',
    'hub.tenant_id': 'acme',
    'hub.request_id': expect.any(String),
  })
  const statements = below(request)
  expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['BEGIN', 'SELECT hub.records', 'COMMIT']))
  for (const { attributes, failed } of statements) {
    expect(failed).toBe(null)
    expect(attributes).toMatchObject({
      'db.system.name': 'postgresql',
      'hub.statement': expect.stringMatching(/^[0-9a-f]{16}$/),
    })
  }
  const read = statements.find(({ name }) => name === 'SELECT hub.records')
  expect(read?.attributes).toMatchObject({ 'db.collection.name': 'hub.records', 'hub.tenant_id': 'acme' })
})

test('statements of a request with a body are below it, and no span contains the body', async () => {
  const secret = 'a word that nobody else writes'
  const body = { record_type: 'skill_definition', skill_id: 'traced', skill_version: '1.0.0', name: secret }
  const answer = await hub.call('acme', 'POST', '/api/v1/hub/records', { body })
  const request = await requestSpan()
  expect([answer.status, request.attributes['http.response.status_code']]).toEqual([201, 201])
  expect(below(request).length).toBeGreaterThan(0)
  expect(JSON.stringify(spans.map(({ name, attributes }) => ({ name, attributes })))).not.toContain(secret)
})

test('a batch of events has the span of its one round trip', async () => {
  const body = { events: [event()] }
  expect((await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body })).status).toBeLessThan(300)
  const request = await requestSpan()
  const copy = below(request).find(({ name }) => /^COPY hub\.records_y\d{4}m\d{2}$/.test(name))
  expect(copy).toMatchObject({ failed: null, attributes: { 'hub.tenant_id': 'acme', 'db.operation.name': 'COPY' } })
})

test.each(['', '00-short-1-01', `${traceparent}, ${traceparent}`, '00-zz'])(
  'a request with the traceparent %j begins a trace of its own',
  async (value) => {
    await hub.call('acme', 'GET', '/api/v1/hub/records?limit=1', { headers: { traceparent: value } })
    expect(await requestSpan()).toMatchObject({ parent: undefined })
  },
)

test('a refusal has the problem, and is no failure of the Hub', async () => {
  await hub.call('acme', 'GET', '/api/v1/hub/records?limit=x')
  const request = await requestSpan()
  expect(request).toMatchObject({ failed: null })
  expect(request.attributes).toMatchObject({ 'http.response.status_code': 400, 'hub.problem': 'validation-failed' })
})

test('a job has a span, with its statements below, and its error without a text', async () => {
  const run = () => hub.test.database.withTenant('globex', (tx) => tx.client.query('select 1'))
  await traceJob('chore', run)
  const [job] = spans
  expect(job).toMatchObject({ kind: 'consumer', name: 'job chore', parent: undefined, failed: null })
  expect(below(job!).map(({ name }) => name)).toEqual(['BEGIN', 'SELECT', 'COMMIT'])

  spans.length = 0
  const wrong = () => hub.test.database.withTenant('globex', (tx) => tx.client.query(`select 'text' / 0`))
  await expect(traceJob('chore', wrong)).rejects.toThrow()
  expect(spans[0]).toMatchObject({ name: 'job chore' })
  expect(below(spans[0]!).find(({ name }) => name === 'SELECT')?.failed).toMatch(/^[0-9A-Z]{5}$/)
})
