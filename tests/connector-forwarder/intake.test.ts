import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { batchPath, type ConnectorLab, eventPath, openConnectorLab, userEvent } from './connector-lab.ts'

let lab: ConnectorLab
beforeAll(async () => {
  lab = await openConnectorLab()
  await lab.start()
})
afterAll(() => lab.close())

const accepted = async () => (await lab.status()).totals.accepted

test('an event is answered 202 with its place in the spool, and forwarded', async () => {
  const answer = await lab.post(eventPath, userEvent('one'))
  expect(answer.status).toBe(202)
  expect(answer.body).toEqual({ accepted: 1, failed: 0, events: [{ index: 0, sequence: expect.any(Number) }] })
  await lab.forwarded()
  expect(lab.hub.records.find((record) => record.user_id === 'user:one')).toMatchObject(userEvent('one'))
})

test('related records are part of the envelope', async () => {
  const body = userEvent('linked', { related_records: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'] })
  expect((await lab.post(eventPath, body)).status).toBe(202)
  await lab.forwarded()
  expect(lab.hub.records.find((record) => record.user_id === 'user:linked')).toMatchObject(body)
})

test.each([
  ['metadata', { channel: 'email' }],
  ['tokens_total_reported', 1200],
  ['prompt', 'text'],
])('%s is refused as content, and nothing of the request is kept', async (name, value) => {
  const before = await accepted()
  const single = await lab.post(eventPath, userEvent('x', { [name]: value }))
  expect(single.status).toBe(400)
  expect(single.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(single.body).toMatchObject({
    type: `${lab.hub.url}/errors/content-not-allowed`,
    title: 'Content not allowed in Mode C',
    status: 400,
    instance: single.headers.get('x-service-request-id'),
    errors: [{ pointer: `/${name}`, detail: 'is not a field of the telemetry envelope' }],
  })
  const batch = await lab.post(batchPath, { events: [userEvent('y'), userEvent('x', { [name]: value })] })
  expect(batch.body).toMatchObject({ status: 400, errors: [{ pointer: `/events/1/${name}` }] })
  expect(await accepted()).toBe(before)
})

test('an event is checked as the Hub checks it, everything that is wrong at once', async () => {
  const { status, body } = await lab.post(
    eventPath,
    userEvent('x', { latency_ms: 0, skill_version: 'one', success: false }),
  )
  expect(status).toBe(400)
  expect(body.type).toBe(`${lab.hub.url}/errors/validation-failed`)
  expect(body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
    '/error_code',
    '/latency_ms',
    '/skill_version',
  ])
})

test('of a batch each event stands alone, and the answer says which were not taken', async () => {
  const before = await accepted()
  const events = [userEvent('b0'), userEvent('b1', { tokens_in: -1 }), userEvent('b2')]
  const { status, body } = await lab.post(batchPath, { events })
  expect(status).toBe(202)
  expect(body).toMatchObject({ accepted: 2, failed: 1, events: [{ index: 0 }, { index: 2 }] })
  expect(body.errors).toEqual([
    {
      index: 1,
      type: `${lab.hub.url}/errors/validation-failed`,
      title: 'Validation failed',
      status: 400,
      detail: expect.stringContaining('/events/1/tokens_in'),
      pointer: '/events/1/tokens_in',
    },
  ])
  expect(await accepted()).toBe(before + 2)
})

test.each([
  ['too many events', { events: Array.from({ length: 1001 }, () => 1) }, 413, 'batch-too-large'],
  ['no events', { events: [] }, 400, 'validation-failed'],
  ['no envelope', [], 400, 'validation-failed'],
  ['another member', { events: [], note: 'x' }, 400, 'content-not-allowed'],
  ['broken JSON', '{"events":', 400, 'malformed-json'],
  ['a repeated member', '{"events":[],"events":[]}', 400, 'malformed-json'],
  ['no body', '', 400, 'validation-failed'],
])('%s in a batch', async (_, body, status, slug) => {
  const answer = await lab.post(batchPath, body)
  expect([answer.status, answer.body.type]).toEqual([status, `${lab.hub.url}/errors/${slug}`])
})

test('a batch may be gzip-encoded; another media type is refused', async () => {
  const body = gzipSync(JSON.stringify({ events: [userEvent('zipped')] }))
  expect((await lab.post(batchPath, body, { 'content-encoding': 'gzip' })).status).toBe(202)
  expect((await lab.post(batchPath, 'events=1', { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await lab.post(eventPath, '"'.padEnd(1024 * 1024 + 2, 'x'))).status).toBe(413)
})

test('an Idempotency-Key stands for its request: repeated, the answer is the first one’s', async () => {
  const before = await accepted()
  const body = { events: [userEvent('k1'), userEvent('k2', { tokens_in: -1 })] }
  const key = { 'idempotency-key': 'run-1' }
  const [first, duplicate] = await Promise.all([lab.post(batchPath, body, key), lab.post(batchPath, body, key)])
  const again = await lab.post(batchPath, body, key)
  expect(duplicate.body).toEqual(first.body)
  expect(again.body).toEqual(first.body)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(await accepted()).toBe(before + 1)

  const other = await lab.post(eventPath, userEvent('k1'), key)
  expect([other.status, other.body.type]).toEqual([409, `${lab.hub.url}/errors/idempotency-conflict`])
  const bad = await lab.post(eventPath, userEvent('k1'), { 'idempotency-key': 'with space' })
  expect(bad.body.errors).toEqual([{ pointer: '/headers/idempotency-key', detail: expect.any(String) }])
  expect(await accepted()).toBe(before + 1)
})

test('another tenant’s header, another address and another method are refused', async () => {
  const foreign = await lab.post(eventPath, userEvent('x'), { 'x-service-tenant': 'acme' })
  expect(foreign).toMatchObject({ status: 403, body: { tenant_slug: 'acme' } })
  expect((await lab.post(eventPath, userEvent('own'), { 'x-service-tenant': 'remote' })).status).toBe(202)
  for (const path of ['/api/v1/hub/records', '/api/v1/oauth/token', '/api/v1/telemetry/summary', '/']) {
    expect((await lab.post(path, {})).status, path).toBe(404)
  }
  expect((await fetch(`${lab.url()}${eventPath}`, { headers: { connection: 'close' } })).status).toBe(404)
})

test('a page that had its name resolved to this machine is refused', async () => {
  const status = await new Promise<number>((resolve, reject) => {
    const { port } = new URL(lab.url())
    const headers = { host: 'evil.example', 'content-type': 'application/json', connection: 'close' }
    const sent = request({ port, path: eventPath, method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject).end('{}')
  })
  expect(status).toBe(400)
})

test('health and status tell nothing of people', async () => {
  await lab.forwarded()
  const health = await fetch(`${lab.url()}/v1/health`, { headers: { connection: 'close' } })
  expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok', checks: { spool: 'ok' } }])
  expect(JSON.stringify(await lab.status())).not.toContain('user:')
  expect(lab.log.join('')).not.toMatch(/user:|hubssecret|token-1/)
})
