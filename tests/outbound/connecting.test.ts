import type { LookupAddress } from 'node:dns'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { createOutbound, type Outbound, type OutboundOptions } from '../../server/outbound/outbound.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server on the loopback address, and what reached it. */
async function serve(
  handler: RequestListener,
): Promise<{ port: number; requests: string[]; connections: () => number }> {
  const requests: string[] = []
  let connections = 0
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.host}`)
    handler(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections }
}

function open(outboundAllow: string[], options: OutboundOptions = {}): Outbound {
  const outbound = createOutbound({ environment: 'development', outboundAllow }, options)
  closing.push(() => outbound.close())
  return outbound
}

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 })

test('an allowed address is called, and answers with status, headers and body', async () => {
  const { port, requests } = await serve((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-more': 'yes' })
    response.end(gzipSync('{"ok":true}'))
  })
  const answer = await open(['127.0.0.1']).fetch(`http://127.0.0.1:${port}/a?b=c`, { method: 'POST', body: 'x' })
  expect([answer.status, answer.headers.get('x-more'), await answer.json()]).toEqual([201, 'yes', { ok: true }])
  expect(requests).toEqual([`POST /a?b=c 127.0.0.1:${port}`])
})

test('a name that resolves inside is not connected to, and says nothing of the address', async () => {
  const { port, connections } = await serve((_request, response) => response.end())
  for (const inside of ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.7', '::1', 'fd00::1']) {
    const outbound = open([], { resolve: async () => [address(inside)] })
    const failure = await outbound.fetch(`http://idp.example.com:${port}/`).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'OutboundError', failure: 'blocked' })
    expect(String(failure)).toMatch(/resolves to a (loopback|private) address/)
    expect(String(failure)).not.toContain(inside)
    expect(await outbound.resolvedProblemOf(`http://idp.example.com:${port}/`)).toMatch(/resolves to a/)
  }
  expect(connections()).toBe(0)
})

test('one address inside among public ones is one too many', async () => {
  const { port, connections } = await serve((_request, response) => response.end())
  const outbound = open([], { resolve: async () => [address('8.8.8.8'), address('127.0.0.1')] })
  await expect(outbound.fetch(`http://idp.example.com:${port}/`)).rejects.toMatchObject({ failure: 'blocked' })
  expect(connections()).toBe(0)
})

test('a name that is rebound after the check is checked again: what is checked is what is connected to', async () => {
  const { port, connections } = await serve((_request, response) => response.end())
  const answers = ['8.8.8.8', '127.0.0.1']
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return [address(answers[asked.length - 1] ?? '127.0.0.1')]
  }
  const outbound = open([], { resolve })
  expect(await outbound.resolvedProblemOf(`http://rebinding.example:${port}/`)).toBeUndefined()
  await expect(outbound.fetch(`http://rebinding.example:${port}/`)).rejects.toMatchObject({ failure: 'blocked' })
  expect(asked).toEqual(['rebinding.example', 'rebinding.example'])
  expect(connections()).toBe(0)
})

test('a connection goes to the address that the resolver gave for it, asked once', async () => {
  const { port, requests } = await serve((_request, response) => response.end('here'))
  let asked = 0
  const resolve = async () => {
    asked += 1
    return [address('127.0.0.1')]
  }
  const outbound = open(['127.0.0.0/8'], { resolve })
  const answer = await outbound.fetch(`http://idp.example.com:${port}/`)
  expect([await answer.text(), asked, requests]).toEqual(['here', 1, [`GET / idp.example.com:${port}`]])
})

test('an allowed host may resolve to anything', async () => {
  const { port } = await serve((_request, response) => response.end('here'))
  const outbound = open(['idp.internal'], { resolve: async () => [address('127.0.0.1')] })
  expect(await (await outbound.fetch(`http://idp.internal:${port}/`)).text()).toBe('here')
  expect(await outbound.resolvedProblemOf(`http://idp.internal:${port}/`)).toBeUndefined()
})

test.each([301, 302, 303, 307, 308])('a redirect (%i) is a failure and is not followed', async (status) => {
  const { port, requests } = await serve((_request, response) => {
    response.writeHead(status, { location: '/elsewhere' }).end()
  })
  const outbound = open(['127.0.0.1'])
  const call = outbound.fetch(`http://127.0.0.1:${port}/`, { redirect: 'follow' })
  await expect(call).rejects.toMatchObject({ failure: 'redirect', message: expect.stringContaining(String(status)) })
  expect(requests).toHaveLength(1)
})

test('a body that never ends is cut off by size', async () => {
  const { port } = await serve((request, response) => {
    const write = () => {
      while (!request.socket.destroyed && response.write(Buffer.alloc(64 * 1024)));
    }
    response.on('drain', write)
    write()
  })
  const outbound = open(['127.0.0.1'], { responseBytesMax: 1_000_000 })
  await expect(outbound.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: 'too-large' })
})

test('a body that inflates is cut off by its inflated size', async () => {
  const { port } = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(8 * 1024 * 1024)))
  })
  await expect(open(['127.0.0.1']).fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: 'too-large' })
})

test('of a body at the limit nothing is missing', async () => {
  const { port } = await serve((_request, response) => response.end(Buffer.alloc(1024 * 1024, 'x')))
  const answer = await open(['127.0.0.1']).fetch(`http://127.0.0.1:${port}/`)
  expect((await answer.text()).length).toBe(1024 * 1024)
})

test('a body that drips is cut off by time, however steadily it comes', async () => {
  const { port } = await serve((_request, response) => {
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const outbound = open(['127.0.0.1'], { timeoutMs: 300 })
  await expect(outbound.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: 'timeout' })
})

test('a server that never answers, and a name that never resolves, are cut off by time', async () => {
  const { port } = await serve(() => {})
  const outbound = open(['127.0.0.1'], { timeoutMs: 200 })
  await expect(outbound.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: 'timeout' })
  const unresolved = open([], { timeoutMs: 200, resolve: () => new Promise(() => {}) })
  await expect(unresolved.fetch('https://idp.example.com/')).rejects.toMatchObject({ failure: 'timeout' })
  expect(await unresolved.resolvedProblemOf('https://idp.example.com/')).toMatch(/cannot be resolved/)
})

test('what is not HTTP, a closed port and an unknown name are told apart', async () => {
  const tcp = createTcpServer((socket) => {
    // It only has something to say once it has read: reading first keeps the reset out of the answer.
    socket.once('data', () => socket.end('220 mail.example.com ESMTP\r\n'))
  })
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  const { port } = tcp.address() as AddressInfo
  const outbound = open(['127.0.0.1'])
  await expect(outbound.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: 'unreachable' })
  await new Promise((resolve) => tcp.close(resolve))
  const refused = { failure: 'unreachable', message: 'refuses the connection' }
  await expect(outbound.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject(refused)
  const nameless = open([], { resolve: async () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) })
  const unknown = { failure: 'unreachable', message: 'has a host name that does not resolve' }
  await expect(nameless.fetch('https://idp.example.com/')).rejects.toMatchObject(unknown)
})

test('the caller’s own signal ends a call, with its reason', async () => {
  const { port } = await serve(() => {})
  const reason = new Error('enough')
  const call = open(['127.0.0.1']).fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort(reason) })
  await expect(call).rejects.toBe(reason)
})
