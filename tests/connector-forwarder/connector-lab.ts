import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect } from 'vitest'
import type { ConnectorConfig } from '../../cli/connector/connector-config.ts'
import type { ConnectorStatus } from '../../cli/connector/connector-status.ts'
import { type RunningConnector, startConnector } from '../../cli/connector/run-connector.ts'
import type { JsonValue } from '../../provenance/index.ts'
import { event } from '../telemetry/events.ts'
import { FakeHub } from './fake-hub.ts'

export interface LabAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
}

/** A forwarder in this process, beside a fake Hub. */
export interface ConnectorLab {
  hub: FakeHub
  spool: string
  log: string[]
  start(changes?: Partial<ConnectorConfig>): Promise<void>
  stop(): Promise<void>
  url(): string
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<LabAnswer>
  /** Sends events of these users as one batch. */
  accept(...users: string[]): Promise<void>
  /** Starts, sends a batch of these users that gets no response, and stops before the next attempt. */
  leaveUnanswered(turn: 'take and hang up' | 'hang up', ...users: string[]): Promise<void>
  status(): Promise<ConnectorStatus>
  /** Until nothing is pending. */
  forwarded(): Promise<ConnectorStatus>
  close(): Promise<void>
}

/** No connection is left open, so that stopping has none to wait for. */
const closing = { headers: { connection: 'close' } }
export const eventPath = '/api/v1/telemetry/events'
export const batchPath = `${eventPath}:batch`
export const userEvent = (user: string, changes: Record<string, JsonValue> = {}) =>
  event({ user_id: `user:${user}`, ...changes })

export async function openConnectorLab(): Promise<ConnectorLab> {
  const hub = await new FakeHub().start()
  const spool = await mkdtemp(join(tmpdir(), 'connector-lab-'))
  const log: string[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) })
  let running: RunningConnector | undefined

  const lab: ConnectorLab = {
    hub,
    spool,
    log,
    async start(changes = {}) {
      const config: ConnectorConfig = {
        hubUrl: hub.url,
        hubMoved: false,
        tenant: 'remote',
        clientId: 'client1',
        clientSecret: 'hubssecret',
        host: '127.0.0.1',
        port: 0,
        spoolDirectory: spool,
        spoolBytesMax: 64 * 1024 * 1024,
        sharedSecret: undefined,
        retryMaxMs: 20,
        logLevel: 'debug',
        ...changes,
      }
      running = await startConnector(config, logger)
    },
    async stop() {
      await running?.stop()
      running = undefined
    },
    url: () => running!.url,
    async post(path, body, headers = {}) {
      const response = await fetch(`${running!.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close', ...headers },
        body: typeof body === 'string' || body instanceof Buffer ? (body as string) : JSON.stringify(body),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    async accept(...users) {
      const answer = await lab.post(batchPath, { events: users.map((user) => userEvent(user)) })
      expect([answer.status, answer.body.accepted]).toEqual([202, users.length])
    },
    async leaveUnanswered(turn, ...users) {
      lab.hub.turns.push(turn)
      await lab.start()
      const stopped = new Promise<void>((resolve) => {
        lab.hub.onHangUp = () => resolve(lab.stop())
      })
      await lab.accept(...users)
      await stopped
      lab.hub.onHangUp = () => {}
    },
    status: async () => (await (await fetch(`${running!.url}/status`, closing)).json()) as ConnectorStatus,
    async forwarded() {
      await expect.poll(async () => (await lab.status()).pending, { interval: 10 }).toBe(0)
      return lab.status()
    },
    async close() {
      await lab.stop()
      await hub.stop()
      await rm(spool, { recursive: true, force: true })
    },
  }
  return lab
}
