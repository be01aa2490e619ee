import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { webhookRedeliveriesMax } from '../../../../contract/limits.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { isMessageKind, testEventKind } from '../../../../contract/webhook-events.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import { databaseTimes } from '../../../db/database-time.ts'
import type { Caller } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { DeliveryAdministration, DeliveryStatus } from '../delivery-types.ts'
import { lockWebhooks } from '../outbox/outbox-store.ts'
import type { Endpoint, Endpoints, WebhookOutbox } from '../webhooks-types.ts'
import { insertDeliveries, takeSequences } from '../worker/delivery-queue-store.ts'
import {
  countRequeued,
  endpointOfDelivery,
  findDelivery,
  lockDelivery,
  requeueAll,
  requeueDelivery,
} from './deliveries-store.ts'
import { deliveriesBelow } from './delivery-pages-store.ts'
import { deliveryDetails, toDeliveryResponse } from './delivery-response.ts'

/** The statuses that a request without `status` delivers again. */
const undelivered: readonly DeliveryStatus[] = ['failed', 'dead']

export function createDeliveryAdministration(deps: {
  database: Database
  governance: GovernanceLog
  endpoints: Pick<Endpoints, 'find'>
  outbox: Pick<WebhookOutbox, 'queued'>
  clock: RecordClock
  cursorKey: Buffer
}): DeliveryAdministration {
  const { database, governance, endpoints, outbox, clock, cursorKey } = deps

  /** Writes the event of a request in the request's transaction, and wakes the worker after the commit. */
  async function ordered(tx: TenantTx, caller: Caller, webhookId: string, details: JsonObject): Promise<void> {
    await governance.append(tx, caller.tenant, {
      kind: 'tenant.config_changed',
      subject: `webhook:${webhookId}`,
      details,
      actor: caller,
    })
    tx.afterCommit(() => outbox.queued(caller.tenant.slug))
  }

  return {
    async list(tenant, webhookId, filter, { limit, cursor }) {
      const query = { webhook_id: webhookId, ...filter }
      const binding: CursorBinding = { tenant: tenant.slug, operation: 'listDeliveries', query }
      const below = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as number)
      const times = timesOf(filter, ['created_at__gte', 'created_at__lt'], '/query', problemsOfKind(filter.kind))
      const selection = { ...filter, from: times.created_at__gte, before: times.created_at__lt }
      return database.withTenant(
        tenant.slug,
        async (tx) => {
          await endpoints.find(tx, webhookId)
          const { rows, next } = await deliveriesBelow(tx, webhookId, selection, below, limit)
          return {
            items: rows.map(toDeliveryResponse),
            next_cursor: next === undefined ? null : signCursor(cursorKey, binding, next),
          }
        },
        { readOnly: true, snapshot: true, inIndexOrder: true },
      )
    },

    get: (tenant, webhookId, deliveryId) =>
      database.withTenant(
        tenant.slug,
        async (tx) => {
          await endpoints.find(tx, webhookId)
          const row = await findDelivery(tx, webhookId, deliveryId)
          if (!row) throw noSuchDelivery(webhookId)
          return deliveryDetails(tenant.slug, row)
        },
        { readOnly: true },
      ),

    test: (caller, webhookId) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        // Takes the lock first, as the removal of an endpoint does, so that nothing is queued for a removed one.
        await lockWebhooks(tx)
        await endpoints.find(tx, webhookId)
        const deliveryId = clock.next().recordId
        const sequence = (await takeSequences(tx, new Map([[webhookId, 1]]))).get(webhookId)!
        const [now] = await databaseTimes(tx)
        const message = {
          message_id: clock.next().recordId,
          kind: testEventKind,
          // The time of the queueing.
          occurred_at: now,
          data: JSON.stringify({ message: 'A test of this endpoint. Nothing has happened.' }),
          record_id: undefined,
          user_id: undefined,
        }
        const delivery = { delivery_id: deliveryId, webhook_id: webhookId, sequence }
        await insertDeliveries(tx, [{ message, deliveries: [delivery] }])
        await ordered(tx, caller, webhookId, { change: 'webhook_tested', delivery_id: deliveryId })
        return toDeliveryResponse((await findDelivery(tx, webhookId, deliveryId))!)
      }),

    redeliver: (caller, ofWebhook, deliveryId) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        const webhookId = ofWebhook ?? (await endpointOfDelivery(tx, deliveryId))
        if (webhookId === undefined) throw noSuchDelivery()
        requireEnabled(await endpoints.find(tx, webhookId))
        const row = await lockDelivery(tx, webhookId, deliveryId)
        if (!row) throw noSuchDelivery(webhookId)
        if (row.data === null) throw erased()
        if (row.status === 'pending' && row.tries === 0) return toDeliveryResponse(row)
        const [now] = await databaseTimes(tx)
        const queued = await requeueDelivery(tx, deliveryId, now)
        await ordered(tx, caller, webhookId, {
          change: 'webhook_redelivered',
          delivery_id: deliveryId,
          status: row.status,
          queued: 1,
        })
        return toDeliveryResponse(queued)
      }),

    async redeliverSince(caller, webhookId, range) {
      const { since, until } = timesOf(range, ['since', 'until'], '')
      if (until !== undefined && until <= since!) {
        throw validationFailed([{ pointer: '/until', detail: 'must be later than since' }])
      }
      const statuses = range.status === undefined ? undelivered : [range.status]
      const requeued = { statuses, from: since!, before: until }
      return database.withTenant(
        caller.tenant.slug,
        async (tx) => {
          requireEnabled(await endpoints.find(tx, webhookId))
          const count = await countRequeued(tx, webhookId, requeued, webhookRedeliveriesMax + 1)
          if (count > webhookRedeliveriesMax) throw tooMany()
          const [now] = await databaseTimes(tx)
          const queued = await requeueAll(tx, webhookId, requeued, now)
          if (queued > 0) {
            await ordered(tx, caller, webhookId, {
              change: 'webhook_redelivered',
              since: since!,
              ...(until !== undefined && { until }),
              statuses: [...statuses],
              queued,
            })
          }
          return { webhook_id: webhookId, queued }
        },
        { inIndexOrder: true },
      )
    },
  }
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
