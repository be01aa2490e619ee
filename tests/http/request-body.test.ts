import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readBody } from '../../server/http/body/request-body.ts'
import { scaled } from '../support/machine-speed.ts'
import { type HttpLab, startHttpLab } from './http-lab.ts'

let lab: HttpLab
beforeAll(async () => {
  lab = await startHttpLab()
})
afterAll(() => lab.close())

const records = '/api/v1/hub/records'
const batch = '/api/v1/telemetry/events:batch'
const id = '01890a5d-ac96-774b-bcce-b302099a8057'
const slugOf = (body: { type: string }) => body.type.split('/').at(-1)
const valid = { title: 't', kind: 'a' }

describe('media type', () => {
  test.each([
    [undefined, 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json; charset=latin1', 415],
    ['application/merge-patch+json', 415],
    ['application', 415],
    ['application/json', 201],
    ['Application/JSON; Charset="UTF-8"', 201],
    ['application/json;charset=utf-8; profile=x', 201],
  ])('%s → %i', async (contentType, expected) => {
    const body = Buffer.from(JSON.stringify(valid))
    const { status, headers } = await lab.call('POST', records, { body, headers: { 'content-type': contentType } })
    expect(status).toBe(expected)
    if (status === 415) expect(headers.get('accept-encoding')).toBe('gzip, identity')
  })

  test('of an empty body does not matter', async () => {
    for (const contentType of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
      const { status } = await lab.call('POST', `${records}/${id}:restore`, {
        headers: { 'content-type': contentType },
      })
      expect(status).toBe(200)
    }
  })
})

describe('actions', () => {
  test.each([undefined, '', '{}'])('take %j as a body', async (body) => {
    const { status } = await lab.call('POST', `${records}/${id}:restore`, body === undefined ? {} : { body })
    expect(status).toBe(200)
  })

  test.each(['[]', 'null', '{"a":1}', '0'])('do not take %s', async (body) => {
    const { status } = await lab.call('POST', `${records}/${id}:restore`, { body })
    expect(status).toBe(400)
  })

  test('with optional members see none as {}', async () => {
    const { body } = await lab.call('POST', '/api/v1/skill-entitlement/skills/s:transition')
    expect(body).toEqual({ skill_id: 's' })
  })
})

test('a body that is needed and absent is 400', async () => {
  for (const body of [undefined, '']) {
    const answer = await lab.call('POST', records, body === undefined ? {} : { body })
    expect([answer.status, slugOf(answer.body), answer.body.errors]).toEqual([
      400,
      'validation-failed',
      [{ pointer: '', detail: 'is required: send a JSON body' }],
    ])
  }
})

describe('size', () => {
  test('is limited per operation, to the byte', async () => {
    const fits = JSON.stringify({ ...valid, content: '' })
    const content = 'x'.repeat(1024 * 1024 - fits.length)
    expect((await lab.call('POST', records, { body: { ...valid, content } })).status).toBe(201)
    const over = await lab.call('POST', records, { body: { ...valid, content: `${content}x` } })
    expect([over.status, slugOf(over.body)]).toEqual([413, 'payload-too-large'])
    expect(over.body.detail).toContain('1048576')
    expect((await lab.call('POST', batch, { body: { events: [content, content, content] } })).status).toBe(201)
  })

  test('is found out while a body of unknown length arrives, and the answer reaches the sender', async () => {
    let sent = 0
    const endless = new Readable({
      read() {
        sent += 65_536
        this.push(sent > 8 * 1024 * 1024 ? null : Buffer.alloc(65_536, 0x20))
      },
    })
    const response = await fetch(lab.url + records, {
      method: 'POST',
      headers: { authorization: 'Bearer acme.all', 'x-service-tenant': 'acme', 'content-type': 'application/json' },
      body: endless as unknown as ReadableStream,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(413)
  })
})

describe('a body that stalls', () => {
  const held = { hold: () => {}, release: () => {} }

  test('is waited for as long as something comes, and then its connection is closed', async () => {
    const stalledMs = scaled(400)
    const outcomes: Promise<unknown>[] = []
    const server = createServer((request, answer) => {
      const rules = {
        format: 'json',
        bounds: { bytes: 1000, values: 10, objectMembers: 10, nameBytes: 10 },
        held,
        stalledMs,
      } as const
      const read = readBody(request.headers, request, rules)
      outcomes.push(read.catch((error) => error.message))
      void read.then((body) => setTimeout(() => answer.end(JSON.stringify(body)), 1.5 * stalledMs)).catch(() => {})
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
    socket.write(head)
    for (const piece of ['{"a"', ':', '1', '}', '  ']) {
      await delay(stalledMs / 4)
      socket.write(piece)
    }
    // Whatever takes its time afterwards is not the sender's fault.
    expect(String(await once(socket, 'data'))).toMatch(/{"a":1}$/)
    socket.write(`${head}{`)
    await once(socket, 'close')
    expect(await Promise.all(outcomes)).toEqual([{ a: 1 }, 'The body ended before its announced length.'])
  })
})

describe('an answer that nobody takes', () => {
  test.each([
    ['a GET', `GET ${records} HTTP/1.1\r\nX-Service-Tenant: acme\r\n`, ''],
    [
      'a body that came in two parts',
      `POST ${records} HTTP/1.1\r\nX-Service-Tenant: acme\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`,
      '{}',
    ],
  ])('ends its connection, after %s', async (_name, lines, body) => {
    // More than the buffers of two sockets hold.
    const slow = await startHttpLab({ inactiveMs: scaled(300) }, (app) => {
      app.addHook('onSend', async () => Buffer.alloc(64 * 1024 * 1024, 'x'))
    })
    onTestFinished(() => slow.close())
    const closed = new Promise((resolve) => {
      slow.app.server.on('connection', (accepted) => accepted.once('close', resolve))
    })
    const socket = connect(slow.port, '127.0.0.1')
    socket.on('error', () => {}).pause()
    socket.write(`${lines}Host: localhost\r\nAuthorization: Bearer acme.all\r\n\r\n${body.slice(0, 1)}`)
    if (body !== '') await delay(scaled(50))
    socket.write(body.slice(1))
    await closed
    socket.destroy()
  })
})

describe('a body that trickles', () => {
  const bodyGraceMs = scaled(300)
  const head = `POST ${records} HTTP/1.1\r\nHost: localhost\r\nX-Service-Tenant: acme\r\nContent-Type: application/json\r\n`
  const authorization = 'Authorization: Bearer acme.all\r\n'

  /** Sends bytes one by one, in a JSON body that has no end, until the connection is closed. What was answered. */
  async function trickle(port: number, lines: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    socket.on('error', () => {})
    socket.write(`${lines}\r\n{`)
    const sending = setInterval(() => socket.write(' '), bodyGraceMs / 10)
    // After the rest of the body was refused, the end may come as a reset.
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(sending)
    return received
  }

  test('is cut off with a 400 that says how long it may take', async () => {
    const slow = await startHttpLab({ bodyGraceMs })
    onTestFinished(() => slow.close())
    const answer = await trickle(slow.port, `${head}${authorization}Content-Length: 1000\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('The body did not arrive in time')
  })

  test('is cut off, too, where nobody reads it', async () => {
    const slow = await startHttpLab({ bodyGraceMs })
    onTestFinished(() => slow.close())
    // Refused before its body is looked at, and an operation that has no body.
    expect(await trickle(slow.port, `${head}Content-Length: 1000\r\n`)).toMatch(/^HTTP\/1.1 401 /)
    const health = 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n'
    expect(await trickle(slow.port, health)).toMatch(/^HTTP\/1.1 200 /)
  })

  test('is waited for while enough of it comes', async () => {
    const slow = await startHttpLab({ bodyGraceMs })
    onTestFinished(() => slow.close())
    const start = `${JSON.stringify(valid).slice(0, -1)},"content":"`
    // Bytes that allow as many seconds more as the deadline is long, and a second.
    const piece = 'x'.repeat(32 * 1024 * Math.ceil(bodyGraceMs / 1000 + 1))
    const length = start.length + piece.length + 2
    const socket = connect(slow.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write(`${head}${authorization}Content-Length: ${length}\r\n\r\n${start}${piece}`)
    await delay(1.5 * bodyGraceMs)
    socket.write('"}')
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 201 /)
  })
})

test('what arrives is held before it is kept, inflated too, and let go when it is thrown away', async () => {
  const calls: (number | 'release')[] = []
  let room = 1_000_000
  const held = {
    hold: (bytes: number) => {
      calls.push(bytes)
      if (bytes > room) throw new Error('no room')
      room -= bytes
    },
    release: () => void calls.push('release'),
  }
  const server = createServer((request, answer) => {
    const read = readBody(request.headers, request, {
      format: 'json',
      bounds: { bytes: 1_000_000, values: 10, objectMembers: 10, nameBytes: 10 },
      held,
    })
    read.then(
      (body) => answer.end(String((body as string).length)),
      (error) => answer.end(error.message),
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const body = gzipSync(JSON.stringify('x'.repeat(400_000)))
  const send = async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return (await fetch(url, { method: 'POST', headers, body })).text()
  }
  expect(await send()).toBe('400000')
  expect(calls).not.toContain('release')
  expect(calls.reduce<number>((sum, each) => sum + Number(each), 0)).toBe(body.length + 400_002)
  // As it is inflated, not afterwards.
  expect(calls.length).toBeGreaterThan(3)
  room = 100_000
  expect(await send()).toBe('no room')
  expect(calls.at(-1)).toBe('release')
})

describe('gzip', () => {
  const send = (body: Buffer, headers: Record<string, string> = {}) =>
    lab.call('POST', batch, { body, headers: { 'content-encoding': 'gzip', ...headers } })

  test('is inflated', async () => {
    const body = gzipSync(JSON.stringify({ events: [1, 2, 3] }))
    expect((await send(body)).body).toEqual({ events: 3 })
    expect((await send(body, { 'content-encoding': 'X-GZIP' })).status).toBe(201)
  })

  test('that is truncated, corrupt or none at all is 400', async () => {
    const body = gzipSync(JSON.stringify({ events: ['x'.repeat(500)] }))
    const corrupt = Buffer.from(body)
    corrupt.writeUInt8(corrupt.readUInt8(20) ^ 0xff, 20)
    for (const wrong of [body.subarray(0, body.length - 5), corrupt, Buffer.from('{"events":[]}')]) {
      const answer = await send(wrong)
      expect([answer.status, slugOf(answer.body)]).toEqual([400, 'malformed-json'])
    }
  })

  test('counts by its inflated size, and a bomb is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(512 * 1024 * 1024, 0x20))
    expect(bomb.length).toBeLessThan(1024 * 1024)
    const before = process.memoryUsage().arrayBuffers
    const answer = await send(bomb)
    expect([answer.status, slugOf(answer.body)]).toEqual([413, 'payload-too-large'])
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
  })

  test.each(['br', 'deflate', 'gzip, gzip', 'zstd'])('is the only coding: %s is 415', async (coding) => {
    expect((await send(Buffer.from('{}'), { 'content-encoding': coding })).status).toBe(415)
  })
})

describe('a form', () => {
  const form = (text: string, headers = {}) =>
    lab.call('POST', '/api/v1/oauth/token', {
      body: text,
      headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })

  test('is read, and repeated fields can be told', async () => {
    const { body } = await form('client_id=a%20b+c&client_secret=right&scope=x&scope=y&scope=z&__proto__=p')
    expect(JSON.stringify(body)).toBe(
      '{"client_id":"a b c","client_secret":"right","scope":["x","y","z"],"__proto__":"p"}',
    )
  })

  test('is not JSON, and has no NUL', async () => {
    expect((await form('{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await form('client_id=%00')).status).toBe(400)
  })

  test('has errors that OAuth clients can read, plain where they ask for JSON only', async () => {
    const refused = await form('client_id=a&client_secret=wrong')
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(refused.body).toMatchObject({
      status: 401,
      error: 'invalid_client',
      error_description: "The 'client' is unknown.",
    })
    const plain = await form('client_id=a&client_secret=wrong', { accept: 'application/json' })
    expect(plain.headers.get('content-type')).toMatch(/^application\/json/)
    const both = await form('client_id=a&client_secret=wrong', { accept: 'application/json, application/problem+json' })
    expect(both.headers.get('content-type')).toContain('application/problem+json')
    const accept = 'application/problem+json;q=0, application/json'
    const notThat = await form('client_id=a&client_secret=wrong', { accept })
    expect(notThat.headers.get('content-type')).toMatch(/^application\/json/)
    const neither = await form('client_id=a&client_secret=wrong', { accept: 'application/json;q=0' })
    expect(neither.headers.get('content-type')).toContain('application/problem+json')
    expect((await form('client_id=%00')).body.error).toBe('invalid_request')
  })
})
