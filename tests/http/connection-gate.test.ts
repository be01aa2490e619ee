import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createConnectionGate, guardConnections } from '../../server/http/connection-gate.ts'
import { startHttpLab } from './http-lab.ts'

const max = 3

function gateOf(trustedProxies: string[] = []) {
  const told = { warn: vi.fn(), onRefused: vi.fn() }
  const gate = createConnectionGate({
    config: { connectionsPerAddress: max, trustedProxies, environment: 'development' },
    baseUrl: () => 'https://hub.example',
    log: told,
    onRefused: told.onRefused,
  })
  return { gate, told }
}

async function startLab(trustedProxies?: string[]) {
  const { gate, told } = gateOf(trustedProxies)
  const lab = await startHttpLab({}, (app) => guardConnections(app.server, gate))
  onTestFinished(() => lab.close())
  return { port: lab.port, told }
}

/** A connection that stays open, and the beginning of the answer on it. */
async function open(port: number, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const answer = once(socket, 'data')
  socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return { socket, answer: String((await answer)[0]) }
}

const ok = /^HTTP\/1.1 200 /

describe('connections of one address', () => {
  test('above the cap are refused with 429, and those that are open go on', async () => {
    const { port, told } = await startLab()
    const taken = []
    for (let at = 0; at < max; at += 1) taken.push(await open(port))
    expect(taken.map(({ answer }) => ok.test(answer))).toEqual(Array(max).fill(true))
    const refused = await open(port)
    expect(refused.answer).toMatch(/^HTTP\/1.1 429 Too many requests\r\n/)
    expect(refused.answer).toContain('retry-after: 10\r\n')
    expect(JSON.parse(refused.answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      type: 'https://hub.example/errors/rate-limited',
      detail: `Your address already has ${max} open connections. Close some, or wait, then try again.`,
    })
    await expect.poll(() => refused.socket.destroyed).toBe(true)
    await open(port)
    expect([told.onRefused.mock.calls.length, told.warn.mock.calls.length]).toEqual([2, 1])
    const [first] = taken
    first?.socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(String((await once(first!.socket, 'data'))[0])).toMatch(ok)
  })

  test('are served again once others are closed', async () => {
    const { port } = await startLab()
    const taken = []
    for (let at = 0; at < max; at += 1) taken.push(await open(port))
    taken[0]?.socket.destroy()
    await expect.poll(async () => ok.test((await open(port)).answer)).toBe(true)
    expect((await open(port)).answer).toMatch(/^HTTP\/1.1 429 /)
  })

  test('leave those of other addresses alone', async () => {
    const { port } = await startLab()
    for (let at = 0; at <= max; at += 1) await open(port)
    expect((await open(port, '127.0.0.2')).answer).toMatch(ok)
  })

  test('are not counted where it is a trusted proxy', async () => {
    const { port, told } = await startLab(['127.0.0.0/8'])
    for (let at = 0; at < 2 * max; at += 1) expect((await open(port)).answer).toMatch(ok)
    expect(told.onRefused).not.toHaveBeenCalled()
  })
})

test('an IPv6 network of 64 bits counts as one address, and a place is given back once', () => {
  const { gate, told } = gateOf(['2001:db8:9::/48', '192.0.2.1'])
  const enter = (remoteAddress: string) => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
    return gate.enter(socket)
  }
  const leaves = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::1'].map(enter)
  expect(enter('2001:db8::3')).toBeUndefined()
  expect(enter('2001:db8:0:1::1')).toBeDefined()
  for (const address of ['2001:db8:9::1', '192.0.2.1', '::ffff:192.0.2.1']) {
    for (let at = 0; at <= max; at += 1) expect(enter(address)).toBeDefined()
  }
  leaves[0]?.()
  leaves[0]?.()
  expect(enter('2001:db8::4')).toBeDefined()
  expect(enter('2001:db8::5')).toBeUndefined()
  expect(told.onRefused).toHaveBeenCalledTimes(2)
})
