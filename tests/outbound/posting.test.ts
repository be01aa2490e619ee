import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { headerValue } from '../../server/outbound/guarded-post.ts'
import { createOutbound, type OutboundOptions } from '../../server/outbound/outbound.ts'
import { scaled } from '../support/machine-speed.ts'

const closing: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(listener: RequestListener) {
  const server: Server = createServer(listener)
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, connections: () => connections }
}

function open(outboundAllow: string[] = ['127.0.0.1'], options: OutboundOptions = {}) {
  const outbound = createOutbound(
    { environment: 'development', outboundAllow },
    { timeoutMs: scaled(30_000), ...options },
  )
  closing.push(() => outbound.close())
  return (url: string, signal?: AbortSignal) =>
    outbound.post(url, {
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"a":"ä"}'),
      ...(signal && { signal }),
    })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('sends the bytes, and answers with status, headers and the beginning of the body', async () => {
  const seen: string[] = []
  const { url } = await serve(async (request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['content-type']} ${await textOf(request)}`)
    response.writeHead(202, { 'x-more': 'yes' }).end('taken')
  })
  const answer = await open()(`${url}/hook?key=1`)
  expect([answer.status, answer.headers['x-more'], answer.beginning.toString()]).toEqual([202, 'yes', 'taken'])
  expect(answer.headMs).toBeGreaterThan(0)
  expect(seen).toEqual(['POST /hook?key=1 application/json {"a":"ä"}'])
})

test('connections are used again', async () => {
  const { url, connections } = await serve((_request, response) => response.end())
  const post = open()
  for (let count = 0; count < 20; count += 1) await post(url)
  // The next call begins a moment before the first connection is free.
  expect(connections()).toBeLessThanOrEqual(2)
})

test.each([301, 302, 307, 308, 410, 429, 500])('%i is an answer, and no redirect is followed', async (status) => {
  const paths: (string | undefined)[] = []
  const { url } = await serve((request, response) => {
    paths.push(request.url)
    response.writeHead(status, { location: '/elsewhere', 'retry-after': '7' }).end()
  })
  const answer = await open()(url)
  expect([answer.status, answer.headers['retry-after'], paths]).toEqual([status, '7', ['/']])
})

test('a header that comes twice has both values', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(503, [...['retry-after', '7'], ...['Retry-After', '100'], ...['via', 'a']]).end()
  })
  const { headers } = await open()(url)
  expect(headers).toMatchObject({ 'retry-after': ['7', '100'], via: 'a' })
  expect(['retry-after', 'via', 'server'].map((name) => headerValue(headers, name))).toEqual(['7', 'a', undefined])
})

test('what the guard does not let through is not connected to', async () => {
  const { port, connections } = await serve((_request, response) => response.end())
  const inside = open([], { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  for (const host of ['127.0.0.1', 'example.com', '2130706433', '[::ffff:7f00:1]', 'user:secret@example.com']) {
    await expect(inside(`http://${host}:${port}/`)).rejects.toMatchObject({ name: 'OutboundError', failure: 'blocked' })
  }
  await expect(open()('http://8.8.8.8:25/')).rejects.toMatchObject({ message: expect.stringContaining('port') })
  expect(connections()).toBe(0)
})

test('without a head in time there is no answer, whatever comes before it', async () => {
  const { url } = await serve((_request, response) => {
    const timer = setInterval(() => response.writeProcessing(), 20)
    response.on('close', () => clearInterval(timer))
  })
  await expect(open(['127.0.0.1'], { timeoutMs: 200 })(url)).rejects.toMatchObject({ failure: 'timeout' })
})

test('a connection that is refused, or breaks off, is unreachable', async () => {
  const { url } = await serve((request) => request.socket.destroy())
  await expect(open()(url)).rejects.toMatchObject({ failure: 'unreachable', message: 'closed the connection' })
  const closed = await serve((_request, response) => response.end())
  for (const close of closing.splice(1)) await close()
  await expect(open()(closed.url)).rejects.toMatchObject({ failure: 'unreachable' })
})

test.each([
  ['without end', 16 * 1024, (write: () => void) => setImmediate(write)],
  ['that drips', 1, (write: () => void) => setTimeout(write, 25)],
])('a body %s is cut off, and what came first is kept', async (_name, bytes, again) => {
  let closed = false
  const { url } = await serve((_request, response) => {
    response.writeHead(200)
    const write = () => {
      if (response.destroyed) return
      response.write('x'.repeat(bytes))
      again(write)
    }
    response.on('close', () => {
      closed = true
    })
    write()
  })
  // Neither body ends by itself.
  const answer = await open()(url)
  expect(answer.status).toBe(200)
  if (bytes > 1) expect(answer.beginning.length).toBe(4 * 1024)
  else expect(answer.beginning.toString()).toMatch(/^x+$/)
  await expect.poll(() => closed).toBe(true)
})

test('a body that breaks off is an answer', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('only this', () => response.destroy())
  })
  const answer = await open()(url)
  expect([answer.status, answer.beginning.toString()]).toEqual([200, 'only this'])
})

test('ends with the reason of its signal, before and after the connection is there', async () => {
  const { url } = await serve(() => {})
  const post = open()
  for (const waitMs of [0, 100]) {
    const stop = new AbortController()
    const sent = post(url, stop.signal)
    setTimeout(() => stop.abort(new Error('enough')), waitMs)
    await expect(sent).rejects.toThrow('enough')
  }
  await expect(post(url, AbortSignal.abort(new Error('at once')))).rejects.toThrow('at once')
})
