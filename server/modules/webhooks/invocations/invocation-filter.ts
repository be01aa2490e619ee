import { type InvocationEventKind, invocationEventKinds, wantsKind } from '../../../../contract/webhook-events.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { wholeThresholds } from '../endpoints/webhook-defaults.ts'
import type { Endpoint } from '../webhooks-types.ts'

/** Members of a record, or of the message about it: both use the same names. */
type Members = Readonly<Record<string, JsonValue>>

/** Thresholds by kind; Infinity for a kind that is never sent. */
export type Floors = Record<InvocationEventKind, number>

/** Returns the thresholds for a skill and an archetype; undefined if the filters of the endpoint exclude them. */
export type InvocationFilter = (
  skillId: JsonValue | undefined,
  archetypeId: JsonValue | undefined,
) => Floors | undefined

/** Returns the filter of an endpoint for single invocations; undefined if it wants none. */
export function invocationFilterOf({ events, filters, thresholds }: Endpoint): InvocationFilter | undefined {
  const { latency_ms, cost_usd } = wholeThresholds(thresholds)
  const floors: Floors = {
    'skill.invocation_failed': 0,
    'skill.latency_exceeded': latency_ms,
    'skill.cost_exceeded': cost_usd,
  }
  for (const kind of invocationEventKinds) if (!wantsKind(events, kind)) floors[kind] = Number.POSITIVE_INFINITY
  if (Object.values(floors).every((floor) => floor === Number.POSITIVE_INFINITY)) return undefined
  const skills = filters.skill_ids && new Set<unknown>(filters.skill_ids)
  const archetypes = filters.archetype_ids && new Set<unknown>(filters.archetype_ids)
  return (skillId, archetypeId) =>
    skills?.has(skillId) !== false && archetypes?.has(archetypeId) !== false ? floors : undefined
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
