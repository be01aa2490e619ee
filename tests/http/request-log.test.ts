import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpLab, startHttpLab } from './http-lab.ts'

let lab: HttpLab
beforeAll(async () => {
  lab = await startHttpLab()
})
afterAll(() => lab.close())

const id = '01890a5d-ac96-774b-bcce-b302099a8057'
const linesOf = async (count = 1) => {
  // A line is written once the answer has gone out, which the client may see first.
  await expect.poll(() => lab.log.filter((line) => line.includes('"msg":"request"')).length).toBe(count)
  return lab.log.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('one line for each request, and no more in it than that', async () => {
  lab.log.length = 0
  await lab.call('POST', `/api/v1/hub/records/${id}:restore`, { headers: { 'x-service-request-id': id } })
  const lines = await linesOf()
  expect(lines).toEqual([
    {
      level: 30,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      request_id: id,
      method: 'POST',
      route: '/api/v1/hub/records/{record_id}:restore',
      status: 200,
      ms: expect.any(Number),
      tenant: 'acme',
      client_id: 'svc_1',
      msg: 'request',
    },
  ])
})

test('no token, secret, query or body, whatever becomes of the request', async () => {
  lab.log.length = 0
  const secret = 'tiger-7f3a'
  await lab.call('GET', `/api/v1/hub/records?cursor=${secret}`)
  await lab.call('GET', `/${secret}`, { headers: { cookie: `service_session=${secret}` } })
  await lab.call('GET', '/api/v1/hub/records', { headers: { authorization: `Bearer ${secret}` } })
  await lab.call('POST', '/api/v1/hub/records', { body: `{"title":"${secret}` })
  await lab.call('POST', '/api/v1/hub/records', { body: { title: secret, kind: 'a' } })
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${btoa(`a:${secret}`)}` }
  await lab.call('POST', '/api/v1/oauth/token', { body: `client_id=a&client_secret=${secret}`, headers: form })
  const lines = await linesOf(6)
  expect(lines).toHaveLength(6)
  expect(lab.log.join('\n')).not.toContain(secret)
  expect(lab.log.join('\n')).not.toContain('acme.all')
})

test('a request id that would forge a line is replaced', async () => {
  lab.log.length = 0
  for (const forged of [
    '"} {"level":60,"msg":"forged',
    'not-a-uuid',
    'a'.repeat(5000),
    '01890a5d-ac96-474b-bcce-b302099a8057',
  ]) {
    const { headers } = await lab.call('GET', '/v1/health', {
      headers: { 'x-service-request-id': forged },
    })
    expect(headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('x-service-request-id')).not.toBe(forged)
  }
  for (const line of await linesOf(4)) expect(line.request_id).toMatch(/^[0-9a-f-]{36}$/)
})

test('a request id in UUIDv7 is kept, upper case too, and stands in answer, problem and log', async () => {
  for (const given of [id, id.toUpperCase()]) {
    lab.log.length = 0
    const { headers, body } = await lab.call('GET', '/nowhere', { headers: { 'x-service-request-id': given } })
    expect([headers.get('x-service-request-id'), body.instance]).toEqual([given, given])
    expect((await linesOf())[0]?.request_id).toBe(given)
  }
})

test('what nobody foresaw is logged with its stack and answered without', async () => {
  lab.log.length = 0
  const { status, text, body } = await lab.call('DELETE', `/api/v1/hub/records/${id}`)
  expect([status, body.type]).toEqual([500, 'https://acme.example/errors/internal'])
  expect(text).not.toContain('secret')
  const error = (await linesOf()).find((line) => line.level === 50)?.err as Record<string, string>
  expect(error).toMatchObject({ type: 'Error', message: 'secret-in-message' })
  expect(error.stack).toContain('http-lab.ts')
  expect(Object.keys(error).sort()).toEqual(['message', 'stack', 'type'])
})
