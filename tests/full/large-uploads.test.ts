import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'

const mebibyte = 1024 * 1024

let hub: HubProcess
let start: string
let head: string
beforeAll(async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir)
  const { clientId, clientSecret } = await makeTenant(dataDir, 'bodies')
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const granted = await fetch(`${hub.url}/api/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await granted.json()) as { access_token: string }
  start =
    'POST /api/v1/telemetry/events:batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${access_token}\r\nX-Service-Tenant: bodies\r\n`
  head = `${start}Content-Length: ${16 * mebibyte}\r\n\r\n`
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

/** Sends a part of a request; what was answered so far comes with `said`. */
function open(...parts: (string | Buffer)[]): { socket: Socket; said(): string } {
  let text = ''
  const socket = connect(Number(new URL(hub.url).port), '127.0.0.1')
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  for (const part of parts) socket.write(part)
  return { socket, said: () => text }
}

/** All of 16 MiB but the last byte. */
const openLarge = () => open(head, Buffer.alloc(16 * mebibyte - 1, 0x20))

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 20 }).toBe(true)
}

test('of many large uploads those that are too many get 503 at once, and there is room again when others are gone', async () => {
  const uploads = Array.from({ length: 8 }, openLarge)
  const refused = () => uploads.filter(({ said }) => said().startsWith('HTTP/1.1 503'))
  await until(() => refused().length === 2)
  expect(refused()[0]!.said()).toMatch(/retry-after: 1\r\n/i)
  for (const { socket } of uploads) socket.destroy()
  const later = async () => {
    const { socket, said } = openLarge()
    socket.write(' ')
    await until(() => said() !== '')
    socket.destroy()
    return said().slice(0, 12)
  }
  await expect.poll(later).toBe('HTTP/1.1 400')
})

test('those who announce much, or say nothing about it, and send next to nothing keep nobody from sending', async () => {
  const idle = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 0 ? open(head, '{') : open(start, 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'),
  )
  await delay(300)
  const body = openLarge()
  body.socket.write(' ')
  await until(() => body.said() !== '')
  expect(body.said()).toMatch(/^HTTP\/1.1 400 /)
  expect(idle.map(({ said }) => said()).filter((said) => said !== '')).toEqual([])
  for (const { socket } of [...idle, body]) socket.destroy()
})
