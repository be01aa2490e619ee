import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { pageSizeDefault, webhookRedeliveriesMax } from '../../../../contract/limits.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { isMessageKind, testEventKind } from '../../../../contract/webhook-events.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import { databaseTimes } from '../../../db/database-time.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import { lockWebhooks } from '../outbox/outbox-store.ts'
import type { DeliveryStatus, Endpoint, WebhookOutbox } from '../webhooks-types.ts'
import { insertDeliveries, type MessageRow, takeSequences } from '../worker/delivery-queue-store.ts'
import type {
  DeliveriesQuery,
  DeliveryDetailsSchema,
  DeliveryList,
  DeliverySchema,
  RedeliverBody,
  RedeliveredSchema,
} from './deliveries-schemas.ts'
import {
  countRequeued,
  type DeliveryRow,
  deliveriesBelow,
  endpointOfDelivery,
  findDelivery,
  requeueAll,
  requeueDelivery,
} from './deliveries-store.ts'

/** A delivery in the names of the response. */
export type DeliveryResponse = Static<typeof DeliverySchema>
type DeliveryDetails = Static<typeof DeliveryDetailsSchema>

/** The statuses that a request without `status` delivers again. */
const undelivered: readonly DeliveryStatus[] = ['failed', 'dead']

/** Reads and requeues deliveries. All methods throw `not-found` for a missing endpoint or delivery. */
export class DeliveryAdministration {
  readonly #deps: DeliveryAdministrationDeps

  constructor(deps: DeliveryAdministrationDeps) {
    this.#deps = deps
  }

  /** Lists deliveries, the newest first. */
  async list(
    tenant: Tenant,
    webhookId: string,
    { limit = pageSizeDefault, cursor, ...filter }: Static<typeof DeliveriesQuery>,
  ): Promise<Static<typeof DeliveryList>> {
    const { database, endpoints, cursorKey } = this.#deps
    const query = { webhook_id: webhookId, ...filter }
    const binding: CursorBinding = { tenant: tenant.slug, operation: 'listDeliveries', query }
    const below = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as number)
    const times = timesOf(filter, ['created_at__gte', 'created_at__lt'], '/query', problemsOfKind(filter.kind))
    const selection = { ...filter, from: times.created_at__gte, before: times.created_at__lt }
    const read = async (tx: TenantTx) => {
      await endpoints.find(tx, webhookId)
      return deliveriesBelow(tx, webhookId, selection, below, limit)
    }
    const mode = { readOnly: true, snapshot: true, inIndexOrder: true }
    const { rows, next } = await database.withTenant(tenant.slug, read, mode)
    const next_cursor = next === undefined ? null : signCursor(cursorKey, binding, next)
    return { items: rows.map(toDeliveryResponse), next_cursor }
  }

  async get(tenant: Tenant, webhookId: string, deliveryId: string): Promise<DeliveryDetails> {
    const read = async (tx: TenantTx) => {
      await this.#deps.endpoints.find(tx, webhookId)
      return findDelivery(tx, webhookId, deliveryId)
    }
    const row = await readTenant(this.#deps.database, tenant.slug, read)
    if (!row) throw noSuchDelivery(webhookId)
    return { ...toDeliveryResponse(row), body: messageBody(tenant.slug, row), attempts: row.attempts }
  }

  /** Queues a message of the kind `webhook.test` with a single attempt, even for a disabled endpoint. */
  test(caller: Caller, webhookId: string): Promise<DeliveryResponse> {
    const { database, endpoints, clock } = this.#deps
    return database.withTenant(caller.tenant.slug, async (tx) => {
      // Takes the lock first, as the removal of an endpoint does, so that nothing is queued for a removed one.
      await lockWebhooks(tx)
      await endpoints.find(tx, webhookId)
      const deliveryId = clock.next().recordId
      const sequence = (await takeSequences(tx, new Map([[webhookId, 1]]))).get(webhookId)!
      const [queuedAt] = await databaseTimes(tx)
      const message = {
        message_id: clock.next().recordId,
        kind: testEventKind,
        occurred_at: queuedAt,
        data: JSON.stringify({ message: 'A test of this endpoint. Nothing has happened.' }),
        record_id: undefined,
        user_id: undefined,
      }
      const delivery = { delivery_id: deliveryId, webhook_id: webhookId, sequence }
      await insertDeliveries(tx, [{ message, deliveries: [delivery] }])
      await this.#requested(tx, caller, webhookId, { change: 'webhook_tested', delivery_id: deliveryId })
      return toDeliveryResponse((await findDelivery(tx, webhookId, deliveryId))!)
    })
  }

  /**
   * Queues a delivery again, regardless of its status; its schedule restarts. Throws `concurrent-modification` while
   * the endpoint is disabled. Without an endpoint id, the delivery may belong to any endpoint.
   */
  redeliver(caller: Caller, ofWebhook: string | undefined, deliveryId: string): Promise<DeliveryResponse> {
    const { database, endpoints } = this.#deps
    return database.withTenant(caller.tenant.slug, async (tx) => {
      const webhookId = ofWebhook ?? (await endpointOfDelivery(tx, deliveryId))
      if (webhookId === undefined) throw noSuchDelivery()
      requireEnabled(await endpoints.find(tx, webhookId))
      const row = await findDelivery(tx, webhookId, deliveryId, 'for update')
      if (!row) throw noSuchDelivery(webhookId)
      if (row.data === null) throw erased()
      const { status, tries } = row
      if (status === 'pending' && tries === 0) return toDeliveryResponse(row)
      const [now] = await databaseTimes(tx)
      const queued = await requeueDelivery(tx, deliveryId, now)
      const details = { change: 'webhook_redelivered', delivery_id: deliveryId, status, queued: 1 }
      await this.#requested(tx, caller, webhookId, details)
      return toDeliveryResponse(queued)
    })
  }

  async redeliverSince(
    caller: Caller,
    webhookId: string,
    range: Static<typeof RedeliverBody>,
  ): Promise<Static<typeof RedeliveredSchema>> {
    const { since, until } = timesOf(range, ['since', 'until'], '')
    if (until !== undefined && until <= since!) {
      throw validationFailed([{ pointer: '/until', detail: 'must be later than since' }])
    }
    const statuses = range.status === undefined ? undelivered : [range.status]
    const requeued = { statuses, from: since!, before: until }
    const requeue = async (tx: TenantTx) => {
      requireEnabled(await this.#deps.endpoints.find(tx, webhookId))
      const count = await countRequeued(tx, webhookId, requeued, webhookRedeliveriesMax + 1)
      if (count > webhookRedeliveriesMax) throw tooMany()
      const [now] = await databaseTimes(tx)
      const queued = await requeueAll(tx, webhookId, requeued, now)
      if (queued > 0) {
        const period = { since: since!, ...(until !== undefined && { until }) }
        const details = { change: 'webhook_redelivered', ...period, statuses: [...statuses], queued }
        await this.#requested(tx, caller, webhookId, details)
      }
      return { webhook_id: webhookId, queued }
    }
    return this.#deps.database.withTenant(caller.tenant.slug, requeue, { inIndexOrder: true })
  }

  /** Writes the event of a request in the request's transaction, and wakes the worker after the commit. */
  async #requested(tx: TenantTx, caller: Caller, webhookId: string, details: JsonObject): Promise<void> {
    const subject = `webhook:${webhookId}`
    const event = { kind: 'tenant.config_changed', subject, details, actor: caller } as const
    await this.#deps.governance.append(tx, caller.tenant, event)
    tx.afterCommit(() => this.#deps.outbox.queued(caller.tenant.slug))
  }
}

interface DeliveryAdministrationDeps extends Pick<ModuleParts, 'database' | 'governance' | 'clock' | 'cursorKey'> {
  endpoints: Pick<Endpoints, 'find'>
  outbox: Pick<WebhookOutbox, 'queued'>
}

/**
 * Parses the named times to their stored form. Throws `validation-failed` with every invalid time, and with other
 * faults of the same request.
 */
function timesOf<const Name extends string>(
  from: { readonly [name in Name]?: string },
  names: readonly Name[],
  pointer: string,
  others: readonly PointedError[] = [],
): { [name in Name]?: string } {
  const errors = [...others]
  const times: { [name in Name]?: string } = {}
  const hint = pointer === '/query' ? '; a `+` is written %2B in a query' : ''
  for (const name of names) {
    const text = from[name]
    if (text === undefined) continue
    const time = parseTimestamp(text)
    if (time) times[name] = time.text
    else errors.push({ pointer: `${pointer}/${name}`, detail: `must be an RFC 3339 timestamp${hint}` })
  }
  if (errors.length > 0) throw validationFailed(errors)
  return times
}

function problemsOfKind(kind: string | undefined): PointedError[] {
  if (kind === undefined || isMessageKind(kind)) return []
  const detail =
    'is not a kind of message. Use one such as user.updated, skill.alert_opened, webhook.test or ' +
    'governance.auth.login; families such as user.* are not allowed here'
  return [{ pointer: '/query/kind', detail }]
}

/** @param webhookId the endpoint that was searched; all endpoints if absent */
function noSuchDelivery(webhookId?: string): DomainError {
  const owner = webhookId === undefined ? 'tenant' : 'endpoint'
  const list = `GET /api/v1/webhooks/${webhookId ?? '{webhook_id}'}/deliveries`
  return new DomainError('not-found', `The ${owner} has no delivery with this id. ${list} lists them.`)
}

function requireEnabled({ webhookId, enabled }: Endpoint): void {
  if (enabled) return
  const remedy = `Enable it first: PATCH /api/v1/webhooks/${webhookId} with {"enabled": true}.`
  throw new DomainError('concurrent-modification', `The endpoint is disabled, so nothing is delivered to it. ${remedy}`)
}

function erased(): DomainError {
  return new DomainError('concurrent-modification', 'The delivery has nothing to send: its content was erased.')
}

function tooMany(): DomainError {
  const most = webhookRedeliveriesMax.toLocaleString('en')
  const detail = `selects more than ${most} deliveries: add until, and continue from there`
  return validationFailed([{ pointer: '/since', detail }])
}

/** Converts a row to the names of the response, with only the last attempt. */
export function toDeliveryResponse(row: DeliveryRow): DeliveryResponse {
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    message_id: row.message_id,
    kind: row.kind,
    sequence: row.sequence,
    status: row.status,
    occurred_at: row.occurred_at,
    created_at: row.created_at,
    attempt_count: row.attempt_count,
    ...(row.next_attempt_at !== null && { next_attempt_at: row.next_attempt_at }),
    ...(row.delivered_at !== null && { delivered_at: row.delivered_at }),
    ...(row.last_attempt && { last_attempt: row.last_attempt }),
  }
}

/** Returns the body that is sent, and that the log of deliveries shows. It is the same at every attempt. */
export function messageBody(tenantSlug: string, row: MessageRow): DeliveryDetails['body'] {
  return {
    id: row.message_id,
    kind: row.kind,
    tenant: tenantSlug,
    occurred_at: row.occurred_at,
    sequence: row.sequence,
    ...(row.data !== null && { data: JSON.parse(row.data) as JsonObject }),
  }
}
