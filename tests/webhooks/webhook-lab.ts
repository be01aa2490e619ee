import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { DeliveryAttempt, DeliveryStatus, OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { must as mustOf, webhooksPath } from '../api/webhook-cases.ts'
import {
  type Answer,
  type CallOptions,
  startHub,
  type TestHub,
  type TestHubOptions,
  type TestTenant,
} from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { type Receiver, type ReceivingEndpoint, startReceiver } from './receiver.ts'
import type { Behaviour } from './receiver-behaviours.ts'

export { webhooksPath }

const withinMsDefault = scaled(30_000)

/** A row of `hub.webhook_deliveries`. */
export interface DeliveryRow {
  delivery_id: string
  sequence: number
  message_id: string
  /** That it tells of. */
  record_id: string | null
  /** It has no data any more. */
  is_erased: boolean
  kind: string
  status: DeliveryStatus
  tries: number
  attempt_count: number
  /** RFC 3339 */
  next_attempt_at: string | null
  attempts: DeliveryAttempt[]
}

/** An endpoint of a tenant, and the place where its messages come in. */
export interface LabWebhook {
  tenant: TestTenant
  webhookId: string
  path: string
  receiving: ReceivingEndpoint
  /** Changes it; must succeed. */
  change(body: object): Promise<Answer>
  /** Gives it a new secret, and the receiver both. */
  rotate(): Promise<void>
  /** Makes what it waits for due: a delivery that failed is attempted again at once. */
  makeDue(): Promise<void>
  /** As getWebhook answers. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  get(): Promise<any>
  /** All its deliveries, in order of `sequence`. */
  deliveries(): Promise<DeliveryRow[]>
  /** The same, once they are so: nothing tells a test of what was written, so it looks again and again. */
  deliveriesWhen(areSo: (rows: DeliveryRow[]) => boolean, withinMs?: number): Promise<DeliveryRow[]>
}

export interface WebhookLab {
  hub: TestHub
  receiver: Receiver
  /** Sees everything. */
  superuser: pg.Client
  /** A call that must succeed. */
  must(tenant: TestTenant, method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Adds an endpoint of `skill.*`, if nothing else is said, at a path of the receiver. */
  connect(options?: ConnectOptions): Promise<LabWebhook>
  /** Commits messages to the outbox, as what causes them would. */
  tell(tenant: TestTenant, messages: number | readonly OutgoingMessage[], webhookIds?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

export interface ConnectOptions {
  tenant?: TestTenant
  /** Of the receiver; one of its own if absent. */
  path?: string
  /** In place of the receiver's. */
  url?: string
  behaviour?: Behaviour
  events?: readonly string[]
  [setting: string]: unknown
}

/** A hub that may call 127.0.0.1, its worker running, and a receiver. */
export async function startWebhookLab(options: TestHubOptions & { start?: boolean } = {}): Promise<WebhookLab> {
  const { start = true, ...rest } = options
  const hub = await startHub({ ...rest, settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1', ...rest.settings } })
  const receiver = await startReceiver()
  const superuser = await hub.superuserClient()
  if (start) hub.modules.webhooks.worker.start()
  let paths = 0
  let last: Promise<unknown> = Promise.resolve()
  /** A connection takes one statement at a time. */
  const alone = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  const must: WebhookLab['must'] = (...call) => mustOf(hub, ...call)

  return {
    hub,
    receiver,
    superuser,
    must,
    async connect({
      tenant = 'acme',
      path = `/hook/${++paths}`,
      url,
      behaviour,
      events = ['skill.*'],
      ...settings
    } = {}) {
      const receiving = receiver.at(path)
      if (behaviour) receiving.behaviour = behaviour
      const body = { url: url ?? receiving.url, events, ...settings }
      const { webhook_id: webhookId, secret } = (await must(tenant, 'POST', webhooksPath, { body })).body
      receiving.secrets = [secret]
      const own = `${webhooksPath}/${webhookId}`
      const deliveries = () => alone(() => deliveriesOf(superuser, tenant, webhookId))
      return {
        ...{ tenant, webhookId, path: own, receiving, deliveries },
        change: (changes) => must(tenant, 'PATCH', own, { body: changes }),
        async rotate() {
          // Until the receiver knows it, the signature with the former is enough.
          const answer = await must(tenant, 'POST', `${own}:rotate-secret`)
          receiving.secrets = [...receiving.secrets, answer.body.secret]
        },
        async makeDue() {
          // One row at a time: a worker locks several, and waiting for two of them could end in a deadlock.
          const waiting = 'tenant_id = $1 and webhook_id = $2 and next_attempt_at is not null'
          const { rows } = await superuser.query<{ delivery_id: string }>(
            `select delivery_id from hub.webhook_deliveries where ${waiting}`,
            [tenant, webhookId],
          )
          for (const { delivery_id } of rows) {
            await superuser.query(
              `update hub.webhook_deliveries set next_attempt_at = now() where ${waiting} and delivery_id = $3`,
              [tenant, webhookId, delivery_id],
            )
          }
          hub.modules.webhooks.worker.wake(tenant)
        },
        get: async () => (await must(tenant, 'GET', own)).body,
        deliveriesWhen: (areSo, withinMs) => when(deliveries, areSo, withinMs),
      }
    },
    async tell(tenant, messages, webhookIds) {
      const all = typeof messages === 'number' ? Array.from({ length: messages }, messageOf) : messages
      const to = webhookIds ? all.map((message) => ({ ...message, webhookIds })) : all
      await hub.test.database.withTenant(tenant, (tx) => hub.modules.webhooks.outbox.add(tx, to))
    },
    async stop() {
      await hub.stop()
      await receiver.stop()
    },
  }
}

let made = 0

/** One that endpoints of `skill.*` want. */
export function messageOf(): OutgoingMessage {
  made += 1
  const occurredAt = `${new Date().toISOString().slice(0, -1)}000Z`
  return { kind: 'skill.invocation_failed', occurredAt, data: { skill_id: 'sum-up', number: made } }
}

async function deliveriesOf(superuser: pg.Client, tenant: string, webhookId: string): Promise<DeliveryRow[]> {
  const { rows } = await superuser.query<DeliveryRow>(
    `select delivery_id, sequence::int as sequence, message_id, record_id, data is null as is_erased, kind, status, tries,
       attempt_count, next_attempt_at, attempts
     from hub.webhook_deliveries where tenant_id = $1 and webhook_id = $2 order by sequence`,
    [tenant, webhookId],
  )
  return rows
}

async function when<Value>(
  look: () => Promise<Value>,
  isSo: (value: Value) => boolean,
  withinMs = withinMsDefault,
): Promise<Value> {
  for (const endsMs = performance.now() + withinMs; ; await delay(20)) {
    const value = await look()
    if (isSo(value)) return value
    if (performance.now() > endsMs) throw new Error(`still ${JSON.stringify(value).slice(0, 2000)}: ${isSo}`)
  }
}
