import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBodyBudget } from '../../server/http/body-budget.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'

const mebibyte = 1024 * 1024
const answer = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse
const unavailable = expect.objectContaining({ slug: 'hub-unavailable', retryAfterSeconds: 1 })

test('holds as much as is allowed until the answers are closed', () => {
  const budget = createBodyBudget(10 * mebibyte)
  const [first, second] = [answer(), answer()]
  budget.hold(first, 6 * mebibyte)
  budget.hold(second, 4 * mebibyte)
  expect(() => budget.hold(answer(), mebibyte)).toThrow(unavailable)
  first.emit('close')
  budget.hold(answer(), 6 * mebibyte)
  expect(() => budget.hold(answer(), mebibyte)).toThrow(unavailable)
})

test('takes any body when it holds none, small ones always, and counts nothing for a connection that is gone', () => {
  const budget = createBodyBudget(mebibyte)
  budget.hold(Object.assign(answer(), { closed: true }), mebibyte)
  budget.hold(answer(), 5 * mebibyte)
  for (let count = 0; count < 100; count++) budget.hold(answer(), 1024)
  expect(() => budget.hold(answer(), 16 * 1024)).toThrow(unavailable)
})

let hub: HubProcess
let head: string
beforeAll(async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir)
  const { clientId, clientSecret } = await makeTenant(dataDir, 'bodies')
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const granted = await fetch(`${hub.url}/api/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await granted.json()) as { access_token: string }
  head =
    'POST /api/v1/telemetry/events:batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${access_token}\r\nX-Service-Tenant: bodies\r\nContent-Length: ${16 * mebibyte}\r\n\r\n`
}, 60_000)
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

/** Announces 16 MiB and sends the first byte of them; what was answered so far comes with `said`. */
function open(): { socket: Socket; said(): string } {
  let text = ''
  const socket = connect(Number(new URL(hub.url).port), '127.0.0.1')
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  socket.write(`${head}{`)
  return { socket, said: () => text }
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > 10_000) throw new Error('nothing came of it')
    await delay(20)
  }
}

test('of many large uploads those that are too many get 503 at once, and there is room again when others are gone', async () => {
  const uploads = Array.from({ length: 8 }, open)
  const refused = () => uploads.filter(({ said }) => said().startsWith('HTTP/1.1 503'))
  await until(() => refused().length === 2)
  expect(refused()[0]!.said()).toMatch(/retry-after: 1\r\n/i)
  for (const { socket } of uploads) socket.destroy()
  await delay(200)
  const later = open()
  await delay(300)
  expect(later.said()).toBe('')
  later.socket.destroy()
})
