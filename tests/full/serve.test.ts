import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories, serverPid } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { event } from '../telemetry/events.ts'

let dataDir: string
let hub: HubProcess
let credentials: { tenant: string; clientId: string; clientSecret: string }

const connectionsMax = 60

beforeAll(async () => {
  dataDir = await freshDataDirectory('a folder with spaces')
  hub = await startHubProcess(dataDir, {
    HUB_LIMIT_FACTOR: '1000',
    HUB_CONNECTIONS_PER_ADDRESS: String(connectionsMax),
  })
  credentials = await makeTenant(dataDir, 'faults')
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

test('an address has a number of connections, and the next is refused', async () => {
  const { port } = new URL(hub.url)
  const sockets = Array.from({ length: connectionsMax + 1 }, () => connect(Number(port), '127.0.0.1'))
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      const answer = once(socket, 'data')
      socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return String((await answer)[0]).split(' ')[1]
    }),
  )
  for (const socket of sockets) socket.destroy()
  // Those of the tests before may still be open.
  expect(statuses).toContain('429')
  expect(statuses.filter((status) => status === '200').length).toBeGreaterThan(connectionsMax / 2)
})

describe('starting', () => {
  test('a second start on the same data directory says who serves from it', async () => {
    const second = await runCli(['serve', '--port', '0', '--data-dir', dataDir])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(dataDir)
    expect(second.stderr).toContain(hub.url)
    expect(second.stderr).not.toContain('    at ')
  })

  test('a taken port ends with exit code 1, names HUB_PORT, and leaves nothing running', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as { port: number }
    const other = await freshDataDirectory()
    const result = await runCli(['serve'], { HUB_PORT: String(port), HUB_DATA_DIR: other })
    squatter.close()
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('HUB_PORT')
    await expect(serverPid(other)).rejects.toThrow('ENOENT')
  })

  test('commands work beside the running server, which sees what they did', async () => {
    const made = await hubCommand<{ tenant: string }>(
      dataDir,
      ...['tenant', 'create', 'beside', '--mode', 'A', '--admin-email', 'a@beside.example'],
    )
    expect(made.tenant).toBe('beside')
    const { client_id, client_secret } = await hubCommand<{ client_id: string; client_secret: string }>(
      dataDir,
      ...['service-account', 'create', '--tenant', 'beside', '--name', 'one', '--scope', 'hub:read'],
    )
    const client = new HubClient({
      baseUrl: hub.url,
      tenant: 'beside',
      clientId: client_id,
      clientSecret: client_secret,
    })
    const page = await client.get<{ records: { event_kind: string }[] }>('/api/v1/hub/records')
    expect(page.records.map((record) => record.event_kind)).toEqual(['tenant.config_changed', 'tenant.config_changed'])
  })
})

describe('the database away', () => {
  test('is 503 with Retry-After while it lasts, and over without a restart of the Hub', async () => {
    const client = new HubClient({ baseUrl: hub.url, ...credentials })
    await client.get('/api/v1/hub/records')
    process.kill(await serverPid(dataDir), 'SIGKILL')
    const seen: number[] = []
    await expect
      .poll(
        async () => {
          const health = await fetch(`${hub.url}/v1/health`)
          if (health.status === 503) expect(Number(health.headers.get('retry-after'))).toBeGreaterThan(0)
          seen.push(health.status)
          return health.status
        },
        { interval: 25 },
      )
      .toBe(200)
    expect(seen.every((status) => status === 200 || status === 503)).toBe(true)
    // The client retries what is 503 as it is told to.
    await client.get('/api/v1/hub/records')
  })
})

describe('SIGTERM', () => {
  test('under load drops no request that it took', async () => {
    const ownDir = await freshDataDirectory()
    const loaded = await startHubProcess(ownDir, { HUB_LIMIT_FACTOR: '1000' })
    const own = await makeTenant(ownDir, 'drain')
    const connect = (url: string) => new HubClient({ baseUrl: url, ...own })
    const client = connect(loaded.url)
    await client.post('/api/v1/hub/records', {
      body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
    })
    const acknowledged: string[] = []
    const dropped: unknown[] = []
    const worker = async () => {
      for (;;) {
        try {
          const receipt = await client.post<{ record_id: string }>('/api/v1/telemetry/events', { body: event() })
          acknowledged.push(receipt.record_id)
        } catch (error) {
          // A connection that was refused took nothing; one that broke under a request would have.
          const code = (error as { cause?: { code?: string } }).cause?.code
          if (code !== 'ECONNREFUSED') dropped.push(code ?? error)
          return
        }
      }
    }
    const work = Array.from({ length: 8 }, worker)
    await delay(1500)
    await loaded.stop()
    await Promise.all(work)
    expect(acknowledged.length).toBeGreaterThan(50)
    expect(dropped).toEqual([])

    const restarted = await startHubProcess(ownDir, { HUB_LIMIT_FACTOR: '1000' })
    const stored = new Set<string>()
    let cursor: string | null = null
    do {
      const page: { records: { record_id: string }[]; next_cursor: string | null } = await connect(restarted.url).get(
        '/api/v1/hub/records',
        { record_type: 'telemetry_event', limit: 1000, ...(cursor === null ? {} : { cursor }) },
      )
      for (const record of page.records) stored.add(record.record_id)
      cursor = page.next_cursor
    } while (cursor !== null)
    await restarted.stop()
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })
})
