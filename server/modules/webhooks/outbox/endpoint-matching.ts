import { type InvocationEventKind, invocationEventKinds, wantsKind } from '../../../../contract/webhook-events.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { exceeds, type Floors, invocationFilterOf } from '../invocations/invocation-filter.ts'
import type { Endpoint, OutgoingMessage } from '../webhooks-types.ts'

/** Returns the enabled endpoints that receive a message. */
export type EndpointMatch = (message: Pick<OutgoingMessage, 'kind' | 'data' | 'webhookIds'>) => readonly Endpoint[]

/**
 * Matches endpoints by kind and, for single invocations, by their filters and thresholds. Valid for one turn of the
 * relay.
 */
export function matchEndpoints(all: readonly Endpoint[]): EndpointMatch {
  const enabled = all.filter((endpoint) => endpoint.enabled)
  const byId = new Map(enabled.map((endpoint) => [endpoint.webhookId, endpoint]))
  const wanting = memoized((kind) => enabled.filter(({ events }) => wantsKind(events, kind)))
  const listening = listeners(enabled)
  return ({ kind, data, webhookIds }) => {
    if (webhookIds) return webhookIds.flatMap((id) => byId.get(id) ?? [])
    if (!isInvocationKind(kind)) return wanting(kind)
    const heard = listening(data.skill_id, data.archetype_id)
    return heard.filter(({ floors }) => exceeds(data, kind, floors[kind])).map(({ endpoint }) => endpoint)
  }
}

interface Listener {
  endpoint: Endpoint
  floors: Floors
}

/** Returns the endpoints whose filters accept a skill and an archetype. */
function listeners(enabled: readonly Endpoint[]) {
  const interests = enabled.map((endpoint) => ({ endpoint, interest: invocationFilterOf(endpoint) }))
  const of = memoized((key): Listener[] => {
    const [skillId, archetypeId] = JSON.parse(key) as [JsonValue, JsonValue]
    return interests.flatMap(({ endpoint, interest }) => {
      const floors = interest?.(skillId, archetypeId)
      return floors ? [{ endpoint, floors }] : []
    })
  })
  return (skillId: JsonValue | undefined, archetypeId: JsonValue | undefined) =>
    of(JSON.stringify([skillId ?? null, archetypeId ?? null]))
}

function memoized<Value>(compute: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>()
  return (key) => {
    const value = known.get(key) ?? compute(key)
    known.set(key, value)
    return value
  }
}

function isInvocationKind(kind: string): kind is InvocationEventKind {
  return (invocationEventKinds as readonly string[]).includes(kind)
}
