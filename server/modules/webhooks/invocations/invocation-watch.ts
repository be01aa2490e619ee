import { type InvocationEventKind, invocationEventKinds } from '../../../../contract/webhook-events.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import { TenantCache } from '../../../cached-fetch.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import {
  exceeds,
  type InvocationFilter,
  type InvocationMinimums,
  invocationFilterOf,
} from '../outbox/endpoint-matching.ts'
import type { Endpoint, IngestedEvent, InvocationWatch, InvocationWatches, OutgoingMessage } from '../webhooks-types.ts'

/**
 * Combines the filters of the enabled endpoints for single invocations; undefined if none wants any.
 * An event makes at most one message of a kind, regardless of the number of endpoints; its endpoints are found when it
 * is relayed (`outbox/endpoint-matching.ts`). If the message may lack the values for that, it names the endpoints.
 */
export function invocationWatch(endpoints: readonly Endpoint[]): InvocationWatch | undefined {
  const interests = endpoints.flatMap((endpoint) => {
    const interest = endpoint.enabled ? invocationFilterOf(endpoint) : undefined
    return interest ? [{ webhookId: endpoint.webhookId, of: interest }] : []
  })
  if (interests.length === 0) return undefined
  return { messagesOf: (events) => messagesOf(interests, events) }
}

interface Interested {
  webhookId: string
  of: InvocationFilter
}

function messagesOf(interests: readonly Interested[], events: readonly IngestedEvent[]): OutgoingMessage[] {
  const minimumsOf = lowestMinimums(interests)
  return events.flatMap((event) => {
    const minimums = minimumsOf(event)
    const kinds = invocationEventKinds.filter((kind) => exceeds(event.fields, kind, minimums[kind]))
    if (kinds.length === 0) return []
    const common = {
      occurredAt: event.sealed ? event.createdAt : String(event.fields.ts),
      data: invocationData(event),
      recordId: event.recordId,
      userId: event.userId,
    }
    return kinds.map((kind) => ({ kind, ...common, ...(event.sealed && named(interests, event, kind)) }))
  })
}

/** Returns the endpoints to name. A failure needs no value: the kind states it. */
function named(
  interests: readonly Interested[],
  { fields, skillId, archetypeId }: IngestedEvent,
  kind: InvocationEventKind,
) {
  if (kind === 'skill.invocation_failed') return {}
  const wanting = interests.filter(({ of }) => {
    const minimums = of(skillId, archetypeId)
    return minimums && exceeds(fields, kind, minimums[kind])
  })
  return { webhookIds: wanting.map(({ webhookId }) => webhookId) }
}

/**
 * Returns the lowest thresholds over all endpoints, computed once for each skill and archetype: a batch has few of
 * them.
 */
function lowestMinimums(interests: readonly Interested[]): (event: IngestedEvent) => InvocationMinimums {
  const known = new Map<string, InvocationMinimums>()
  return ({ skillId, archetypeId }) => {
    const key = JSON.stringify([skillId, archetypeId])
    return known.getOrInsertComputed(key, () => lowest(interests.flatMap(({ of }) => of(skillId, archetypeId) ?? [])))
  }
}

function lowest(all: readonly InvocationMinimums[]): InvocationMinimums {
  const minimums: InvocationMinimums = {
    'skill.invocation_failed': Number.POSITIVE_INFINITY,
    'skill.latency_exceeded': Number.POSITIVE_INFINITY,
    'skill.cost_exceeded': Number.POSITIVE_INFINITY,
  }
  for (const one of all) for (const kind of invocationEventKinds) minimums[kind] = Math.min(minimums[kind], one[kind])
  return minimums
}

/**
 * Members of the record that messages contain if present. `metadata` is never sent, because it may contain anything.
 */
const sentMembers = [
  ...['skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'llm_model', 'ts', 'success'],
  ...['latency_ms', 'tokens_in', 'tokens_out', 'cost_usd_estimate', 'cost_usd_computed', 'error_code'],
] as const

/**
 * Members that Mode B messages contain: only the columns that a record has in clear. The rest is in the text under the
 * customer's key, and messages are stored outside of it.
 */
const sentIfEncrypted = ['skill_id', 'archetype_id', 'user_id', 'cost_usd_estimate'] as const

/** Returns the `data` of the messages of an invocation, the same for all kinds and endpoints. */
export function invocationData({ recordId, fields, sealed }: IngestedEvent): JsonObject {
  const data: Record<string, JsonValue> = { record_id: recordId }
  for (const name of sealed ? sentIfEncrypted : sentMembers) {
    const value = fields[name]
    if (value !== undefined) data[name] = value
  }
  return data
}

/**
 * Caches the watches of tenants: endpoints are read at most once a second and tenant, regardless of the ingest rate.
 */
export function createInvocationWatches(deps: {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'all'>
  nowMs?: () => number
}): InvocationWatches {
  const { database, endpoints, nowMs } = deps
  const watches = new TenantCache(
    async (tenantId) => invocationWatch(await readTenant(database, tenantId, (tx) => endpoints.all(tx))),
    { nowMs },
  )
  return {
    of: (tenantId) => watches.get(tenantId),
    changed: (tenantId) => watches.drop(tenantId),
  }
}
