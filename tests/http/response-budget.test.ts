import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createResponseBudget, limitResponses } from '../../server/http/body/response-budget.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const mebibyte = 1024 * 1024
const answer = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse

function budgetOf(mebibytes: number) {
  const closed: string[] = []
  const budget = createResponseBudget(mebibytes * mebibyte)
  const hold = (reader: string, name: string, size: number) => {
    const one = answer()
    budget.hold(reader, size * mebibyte, one, { destroy: () => void closed.push(name) } as never)
    return one
  }
  return { closed, hold }
}

test('closes the oldest connection of who holds the most', () => {
  const { closed, hold } = budgetOf(10)
  hold('a', 'a1', 2)
  hold('b', 'b1', 3)
  hold('b', 'b2', 3)
  expect(closed).toEqual([])
  hold('a', 'a2', 3)
  expect(closed).toEqual(['b1'])
  hold('c', 'c1', 4)
  expect(closed).toEqual(['b1', 'a1'])
})

test('counts nothing of what was handed over, is small, or has no reader any more', () => {
  const { closed, hold } = budgetOf(4)
  for (let at = 0; at < 20; at++) hold('a', 'read', 4).emit('close')
  for (let at = 0; at < 200; at++) hold('a', 'small', 0.05)
  const budget = createResponseBudget(mebibyte)
  const gone = { destroy: () => void closed.push('gone') } as never
  budget.hold('a', 2 * mebibyte, Object.assign(answer(), { closed: true }), gone)
  expect(closed).toEqual([])
})

test('counts no injected request: it has no connection', async () => {
  const app = fastify()
  limitResponses(app, createResponseBudget(0))
  app.get('/large', () => 'x'.repeat(mebibyte))
  expect((await app.inject('/large')).statusCode).toBe(200)
  await app.close()
})

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('closes connections of those who ask for large pages and do not read them', async () => {
  for (let at = 0; at < 17; at++) {
    const body = { record_type: 'artifact', title: 'large', content: 'x'.repeat(1_000_000) }
    expect((await hub.call('acme', 'POST', '/api/v1/hub/records', { body })).status).toBe(201)
  }
  const url = new URL(hub.baseUrl)
  const head = [
    'GET /api/v1/hub/records?record_type=artifact&limit=1000 HTTP/1.1',
    `Host: ${url.host}`,
    `Authorization: Bearer ${await hub.token('acme')}`,
    'X-Service-Tenant: acme',
    '',
    '',
  ].join('\r\n')
  const sockets: Socket[] = []
  let closed = 0
  for (let at = 0; at < 12; at++) {
    const socket = connect(Number(url.port), url.hostname)
    socket.on('error', () => {}).once('close', () => closed++)
    socket.pause().write(head)
    sockets.push(socket)
  }
  // Who does not read does not hear of the end either.
  const warned = () => hub.logLines.filter((line) => line.includes('does not read its responses')).length
  await expect.poll(warned, { timeout: scaled(90_000) }).toBeGreaterThanOrEqual(4)
  for (const socket of sockets) socket.destroy()
  expect((await hub.call('acme', 'GET', '/api/v1/hub/records?limit=1')).status).toBe(200)
  await expect.poll(() => closed).toBe(12)
})

test.each(['/api/v1/hub/records?record_type=artifact&limit=1000', '/api/v1/hub/log/entries?limit=1000'])(
  'parses one large record in a turn: %s',
  async (path) => {
    // The search parses records, too, until all are indexed.
    while (await hub.modules.hub.searchIndexer.index('acme'));
    let inTurn = 0
    let most = 0
    let total = 0
    let ended = false
    const turn = () => {
      inTurn = 0
      if (!ended) setImmediate(turn)
    }
    const parse = JSON.parse
    vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
      // A stored record, and not the whole answer.
      if (text.length > 900_000 && text.length < 1_100_000) {
        most = Math.max(most, ++inTurn)
        total++
      }
      return parse(text, reviver)
    })
    // Each look at the clock finds that a turn has been long.
    const now = performance.now.bind(performance)
    let addedMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      addedMs += 6
      return now() + addedMs
    })
    turn()
    const { status } = await hub.call('acme', 'GET', path)
    ended = true
    vi.restoreAllMocks()
    expect([status, most]).toEqual([200, 1])
    expect(total).toBeGreaterThanOrEqual(15)
  },
)
