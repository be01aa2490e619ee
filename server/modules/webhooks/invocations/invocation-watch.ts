import { type InvocationEventKind, invocationEventKinds } from '../../../../contract/webhook-events.ts'
import type { Endpoint, IngestedEvent, InvocationWatch, OutgoingMessage } from '../webhooks-types.ts'
import { invocationData } from './invocation-data.ts'
import { exceeds, type Floors, type InvocationFilter, invocationFilterOf } from './invocation-filter.ts'

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
  const floorsOf = lowestFloors(interests)
  return events.flatMap((event) => {
    const floors = floorsOf(event)
    const kinds = invocationEventKinds.filter((kind) => exceeds(event.fields, kind, floors[kind]))
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
    const floors = of(skillId, archetypeId)
    return floors && exceeds(fields, kind, floors[kind])
  })
  return { webhookIds: wanting.map(({ webhookId }) => webhookId) }
}

/**
 * Returns the lowest thresholds over all endpoints, computed once for each skill and archetype: a batch has few of
 * them.
 */
function lowestFloors(interests: readonly Interested[]): (event: IngestedEvent) => Floors {
  const known = new Map<string, Floors>()
  return ({ skillId, archetypeId }) => {
    const key = JSON.stringify([skillId, archetypeId])
    const found = known.get(key) ?? lowest(interests.flatMap(({ of }) => of(skillId, archetypeId) ?? []))
    known.set(key, found)
    return found
  }
}

function lowest(all: readonly Floors[]): Floors {
  const floors: Floors = {
    'skill.invocation_failed': Number.POSITIVE_INFINITY,
    'skill.latency_exceeded': Number.POSITIVE_INFINITY,
    'skill.cost_exceeded': Number.POSITIVE_INFINITY,
  }
  for (const one of all) for (const kind of invocationEventKinds) floors[kind] = Math.min(floors[kind], one[kind])
  return floors
}
