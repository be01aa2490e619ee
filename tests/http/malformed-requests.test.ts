import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scaled } from '../support/machine-speed.ts'
import { type HttpLab, startHttpLab } from './http-lab.ts'

let lab: HttpLab
beforeAll(async () => {
  lab = await startHttpLab()
})
afterAll(() => lab.close())

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Sends bytes as they are and reads until the server closes. */
function exchange(bytes: string): Promise<{ status: number; head: string; text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(lab.port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').setTimeout(scaled(30_000), () => reject(new Error(`no answer but ${received}`)))
    socket.on('data', (chunk: string) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', text = ''] = received.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head: head.toLowerCase(), text })
    })
    socket.write(bytes)
  })
}

const host = 'Host: localhost\r\n'
const close = 'Connection: close\r\n'
const authorization = 'Authorization: Bearer acme.all\r\nX-Service-Tenant: acme\r\n'

describe('what is not HTTP, or too much of it', () => {
  test.each([
    ['nonsense', 'hello\r\n\r\n', 400, 'validation-failed'],
    ['a bad header', `GET / HTTP/1.1\r\n${host}a b: c\r\n\r\n`, 400, 'validation-failed'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
      400,
      'validation-failed',
    ],
    [
      'two framings',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'validation-failed',
    ],
    [
      '64 KB of headers',
      `GET /v1/health HTTP/1.1\r\n${host}X-Big: ${'x'.repeat(65_536)}\r\n\r\n`,
      431,
      'headers-too-large',
    ],
    ['a long address', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431, 'headers-too-large'],
  ])('%s is a problem document with a fresh request id', async (_name, bytes, status, slug) => {
    const answer = await exchange(bytes)
    expect(answer.status).toBe(status)
    expect(answer.head).toContain('content-type: application/problem+json')
    const body = JSON.parse(answer.text)
    expect(body).toMatchObject({
      type: `https://hub.example/errors/${slug}`,
      status,
      instance: expect.stringMatching(uuidV7),
    })
    expect(answer.head).toContain(`x-service-request-id: ${body.instance}`)
  })

  test('a chunk that is none is answered once, and the connection closed', async () => {
    const { status, text } = await exchange(
      `POST /api/v1/hub/records HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
    )
    expect([status, JSON.parse(text).status]).toEqual([400, 400])
  })

  test('a body that ends early leaves nothing behind', async () => {
    const socket = connect(lab.port, '127.0.0.1')
    socket.end(
      `POST /api/v1/hub/records HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"`,
    )
    await new Promise((resolve) => socket.on('close', resolve).resume())
    expect((await lab.call('GET', '/api/v1/hub/records')).status).toBe(200)
  })
})

describe('Host', () => {
  test.each([
    ['localhost', 200],
    ['LOCALHOST:8080', 200],
    ['127.0.0.1:1', 200],
    ['127.9.9.9', 200],
    ['[::1]:8080', 200],
    ['evil.example', 400],
    ['localhost.evil.example', 400],
    ['127.0.0.1.evil.example', 400],
    ['192.168.1.1', 400],
    ['[::ffff:192.0.2.1]', 400],
    ['', 400],
  ])('%s in development: %i', async (name, expected) => {
    const { status, text } = await exchange(`GET /v1/health HTTP/1.1\r\nHost: ${name}\r\n${close}\r\n`)
    expect(status).toBe(expected)
    if (expected === 400) expect(JSON.parse(text).errors[0].pointer).toBe('/headers/host')
  })

  test('must be given exactly once', async () => {
    expect((await exchange(`GET /v1/health HTTP/1.1\r\n${close}\r\n`)).status).toBe(400)
    expect((await exchange(`GET /v1/health HTTP/1.1\r\n${host}${host}${close}\r\n`)).status).toBe(400)
  })

  test('may be any outside development', async () => {
    const production = await startHttpLab({ config: { environment: 'production' } })
    const { statusCode, headers } = await production.app.inject({ url: '/v1/health', headers: { host: 'hub.example' } })
    await production.close()
    expect([statusCode, headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
  })
})

describe('headers that decide who calls', () => {
  const get = (lines: string) => exchange(`GET /api/v1/hub/records HTTP/1.1\r\n${host}${lines}${close}\r\n`)

  test('may be there once', async () => {
    expect((await get(authorization)).status).toBe(200)
    expect((await get(`${authorization}Authorization: Bearer acme.all\r\n`)).status).toBe(401)
    const twice = await get(`${authorization}X-SERVICE-TENANT: acme\r\n`)
    expect([twice.status, JSON.parse(twice.text).errors[0].pointer]).toEqual([400, '/headers/x-service-tenant'])
  })

  test('are seen behind thousands of others', async () => {
    const filler = Array.from({ length: 2500 }, () => 'a:\r\n').join('')
    expect((await get(`${filler}${authorization}`)).status).toBe(200)
    expect((await get(`${authorization}${filler}Authorization: Bearer x\r\n`)).status).toBe(401)
  })
})

test('an expectation that nobody knows is ignored', async () => {
  const { status } = await exchange(`GET /v1/health HTTP/1.1\r\n${host}Expect: wonders\r\n${close}\r\n`)
  expect(status).toBe(200)
})
