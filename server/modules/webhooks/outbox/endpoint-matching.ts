import { webhookThresholdDefaults } from '../../../../contract/limits.ts'
import { type InvocationEventKind, invocationEventKinds, wantsKind } from '../../../../contract/webhook-events.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
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
  const subscribers = listeners(enabled)
  return ({ kind, data, webhookIds }) => {
    if (webhookIds) return webhookIds.flatMap((id) => byId.get(id) ?? [])
    if (!isInvocationKind(kind)) return wanting(kind)
    const subscribed = subscribers(data.skill_id, data.archetype_id)
    return subscribed.filter(({ minimums }) => exceeds(data, kind, minimums[kind])).map(({ endpoint }) => endpoint)
  }
}

interface Listener {
  endpoint: Endpoint
  minimums: InvocationMinimums
}

/** Returns the endpoints whose filters accept a skill and an archetype. */
function listeners(enabled: readonly Endpoint[]) {
  const interests = enabled.map((endpoint) => ({ endpoint, interest: invocationFilterOf(endpoint) }))
  const of = memoized((key): Listener[] => {
    const [skillId, archetypeId] = JSON.parse(key) as [JsonValue, JsonValue]
    return interests.flatMap(({ endpoint, interest }) => {
      const minimums = interest?.(skillId, archetypeId)
      return minimums ? [{ endpoint, minimums }] : []
    })
  })
  return (skillId: JsonValue | undefined, archetypeId: JsonValue | undefined) =>
    of(JSON.stringify([skillId ?? null, archetypeId ?? null]))
}

function memoized<Value>(compute: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>()
  return (key) => known.getOrInsertComputed(key, compute)
}

function isInvocationKind(kind: string): kind is InvocationEventKind {
  return (invocationEventKinds as readonly string[]).includes(kind)
}

/** Members of a record, or of the message about it: both use the same names. */
type Members = Readonly<Record<string, JsonValue>>

/** Thresholds by kind; Infinity for a kind that is never sent. */
export type InvocationMinimums = Record<InvocationEventKind, number>

/** Returns the thresholds for a skill and an archetype; undefined if the filters of the endpoint exclude them. */
export type InvocationFilter = (
  skillId: JsonValue | undefined,
  archetypeId: JsonValue | undefined,
) => InvocationMinimums | undefined

/** Returns the filter of an endpoint for single invocations; undefined if it wants none. */
export function invocationFilterOf({ events, filters, thresholds }: Endpoint): InvocationFilter | undefined {
  const { latency_ms, cost_usd } = { ...webhookThresholdDefaults, ...thresholds }
  const minimums: InvocationMinimums = {
    'skill.invocation_failed': 0,
    'skill.latency_exceeded': latency_ms,
    'skill.cost_exceeded': cost_usd,
  }
  for (const kind of invocationEventKinds) if (!wantsKind(events, kind)) minimums[kind] = Number.POSITIVE_INFINITY
  if (Object.values(minimums).every((floor) => floor === Number.POSITIVE_INFINITY)) return undefined
  const skills = filters.skill_ids && new Set<unknown>(filters.skill_ids)
  const archetypes = filters.archetype_ids && new Set<unknown>(filters.archetype_ids)
  return (skillId, archetypeId) =>
    skills?.has(skillId) !== false && archetypes?.has(archetypeId) !== false ? minimums : undefined
}

/** Returns whether an invocation exceeds the threshold of a kind; true if its members do not say. */
export function exceeds(members: Members, kind: InvocationEventKind, floor: number): boolean {
  return floor !== Number.POSITIVE_INFINITY && !(figureOf(members, kind) <= floor)
}

/** Returns the compared value. A cost is the greater one of reported and calculated cost. */
function figureOf(members: Members, kind: InvocationEventKind): number {
  if (kind === 'skill.invocation_failed') return members.success === true ? 0 : 1
  if (kind === 'skill.latency_exceeded') return Number(members.latency_ms)
  return Math.max(Number(members.cost_usd_estimate), Number(members.cost_usd_computed ?? 0))
}
