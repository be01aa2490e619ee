import { invocationEventKinds } from '../../../../contract/webhook-events.ts'
import type { Endpoint, IngestedEvent, InvocationWatch, OutgoingMessage } from '../webhooks-types.ts'
import { invocationData } from './invocation-data.ts'
import { exceeds, type Floors, type Interest, interestOf } from './invocation-interest.ts'

/**
 * What the enabled ones among the endpoints want of single invocations; undefined where that is nothing.
 *
 * However many endpoints there are, an event makes one message of a kind at most, where the first of them wants it;
 * whom of them it is for is found when it is relayed (`outbox/audience.ts`).
 */
export function invocationWatch(endpoints: readonly Endpoint[]): InvocationWatch | undefined {
  const interests = endpoints.filter(({ enabled }) => enabled).flatMap((endpoint) => interestOf(endpoint) ?? [])
  if (interests.length === 0) return undefined
  return { messagesOf: (events) => messagesOf(interests, events) }
}

function messagesOf(interests: readonly Interest[], events: readonly IngestedEvent[]): OutgoingMessage[] {
  const floorsOf = lowestFloors(interests)
  return events.flatMap((event) => {
    const floors = floorsOf(event)
    const kinds = invocationEventKinds.filter((kind) => exceeds(event.fields, kind, floors[kind]))
    if (kinds.length === 0) return []
    const common = {
      occurredAt: String(event.fields.ts),
      data: invocationData(event),
      recordId: event.recordId,
      userId: event.userId,
    }
    return kinds.map((kind) => ({ kind, ...common }))
  })
}

/** Over all endpoints, looked up once for each skill and archetype: a batch has few of them. */
function lowestFloors(interests: readonly Interest[]): (event: IngestedEvent) => Floors {
  const known = new Map<string, Floors>()
  return ({ skillId, archetypeId }) => {
    const key = JSON.stringify([skillId, archetypeId])
    const found = known.get(key) ?? lowest(interests.flatMap((interest) => interest(skillId, archetypeId) ?? []))
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
