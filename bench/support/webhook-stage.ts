// Sets up endpoints for tenants of a measured service, messages to them, and a receiver in a process of its own.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { scopeNames } from '../../contract/scopes.ts'
import { StoredOutbox } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import type { OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { createRecordClock } from '../../server/records/record-clock.ts'
import { hubCommand } from '../../tests/support/hub-process.ts'
import { startReference } from '../baselines/start-reference.ts'
import { accessToken, type BenchHub, type Credentials } from './bench-hub.ts'
import { logProgress } from './progress.ts'
import { sampleEvent } from './sample-events.ts'

/** Permits the service to deliver to this machine. */
export const outboundHere = { HUB_OUTBOUND_ALLOW: '127.0.0.1' }

const kind = 'skill.invocation_failed'
/** The member of a message's data from which the receiver computes the elapsed time. */
const sentAt = 'sent_at_ms'

export interface Arrivals {
  messages: number
  /** Number of requests, repeated ones included. */
  requests: number
  /** Milliseconds since 1970. */
  last_at_ms: number
  /** Milliseconds that each message took since it entered the outbox. */
  took_ms: number[]
}

export interface WebhookStage {
  receiver: { url: string; pid: number }
  /** A URL with a port without a listener. */
  refusingUrl: string
  /** Adds an enabled endpoint. Returns its `webhook_id`. */
  addEndpoint(tenant: string, url: string, events?: readonly string[]): Promise<string>
  setEnabled(tenant: string, webhookId: string, enabled: boolean): Promise<void>
  /**
   * Commits this many messages to the outbox, like the service itself. Without ids they go to all endpoints of the
   * tenant.
   */
  tell(tenant: string, count: number, webhookIds?: readonly string[]): Promise<void>
  /** Waits for this many different messages at a path of the receiver, which then forgets them. */
  arrivals(path: string, count: number): Promise<Arrivals>
  /** Returns the number of deliveries still to attempt, in all given tenants. */
  pending(tenants: readonly string[]): Promise<number>
  stop(): Promise<void>
}

/** Returns the data of one message, as the service builds it. */
export function sampleData(at: number): OutgoingMessage['data'] {
  const nowMs = performance.timeOrigin + performance.now()
  // A failed invocation, as its kind states; otherwise no endpoint receives it.
  return { ...(sampleEvent(at, nowMs) as OutgoingMessage['data']), success: false, [sentAt]: nowMs }
}

export async function openWebhookStage(hub: BenchHub): Promise<WebhookStage> {
  const receiver = await startReference('webhook-receiver')
  const refusingUrl = `http://127.0.0.1:${await unusedPort()}/refuse`
  const administrators = new Map<string, Promise<Record<string, string>>>()
  const outbox = new StoredOutbox({
    database: hub.database,
    clock: createRecordClock(),
    wake: () => {},
    log: { warn: (_details, message) => logProgress(message) },
  })
  let made = 0

  /** Returns headers of an account with every scope, which endpoints require. */
  function administratorOf(tenant: string): Promise<Record<string, string>> {
    const known = administrators.get(tenant)
    if (known) return known
    const headers = makeAdministrator(hub, tenant)
    administrators.set(tenant, headers)
    return headers
  }

  async function call(tenant: string, method: string, path: string, body: object): Promise<{ webhook_id: string }> {
    const headers = await administratorOf(tenant)
    const response = await fetch(`${hub.url}/api/v1/webhooks${path}`, { method, headers, body: JSON.stringify(body) })
    const answer = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`)
    return JSON.parse(answer) as { webhook_id: string }
  }

  return {
    receiver,
    refusingUrl,
    addEndpoint: async (tenant, url, events = ['skill.*']) =>
      (await call(tenant, 'POST', '', { url, events })).webhook_id,
    setEnabled: async (tenant, webhookId, enabled) => void (await call(tenant, 'PATCH', `/${webhookId}`, { enabled })),
    async tell(tenant, count, webhookIds) {
      await hub.database.withTenant(tenant, (tx) => {
        const occurredAt = `${new Date().toISOString().slice(0, -1)}000Z`
        const messages = Array.from({ length: count }, (): OutgoingMessage => {
          const data = sampleData(made++)
          // An erasure of the record or the person must find the message, as for real invocations; this has a cost.
          const about = { recordId: randomUUID(), userId: String(data.user_id) }
          return { kind, occurredAt, data, ...about, ...(webhookIds ? { webhookIds } : {}) }
        })
        return outbox.add(tx, messages)
      })
    },
    async arrivals(path, count) {
      const response = await fetch(`${receiver.url}/arrivals?${new URLSearchParams({ path, count: String(count) })}`)
      return (await response.json()) as Arrivals
    },
    async pending(tenants) {
      let sum = 0
      for (const tenant of tenants) sum += await pendingOf(hub, tenant)
      return sum
    },
    async stop() {
      await outbox.settled()
      await receiver.stop()
    },
  }
}

async function pendingOf(hub: BenchHub, tenant: string): Promise<number> {
  return hub.database.withTenant(tenant, async (tx) => {
    const { rows } = await tx.client.query<{ count: number }>(
      `select count(*)::int as count from hub.webhook_deliveries where tenant_id = $1 and next_attempt_at is not null`,
      [tx.tenantId],
    )
    return rows[0]!.count
  })
}

async function makeAdministrator(hub: BenchHub, tenant: string): Promise<Record<string, string>> {
  const account = await hubCommand<{ client_id: string; client_secret: string }>(
    hub.dataDir,
    ...['service-account', 'create', '--tenant', tenant, '--name', `webhooks-${Date.now()}`],
    ...['--scope', scopeNames.join(' ')],
  )
  const credentials: Credentials = { tenant, clientId: account.client_id, clientSecret: account.client_secret }
  const token = await accessToken(hub.url, credentials)
  return { authorization: `Bearer ${token}`, 'x-service-tenant': tenant, 'content-type': 'application/json' }
}

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}
