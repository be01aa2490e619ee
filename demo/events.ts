import { type ArchetypeId, people } from './company.ts'
import { type DemoModel, modelsOf, move } from './models.ts'
import { type DemoPeriod, timeOf } from './period.ts'
import { numbersOf } from './row-numbers.ts'
import { withSessions } from './sessions.ts'
import { type DemoSkill, failingSkill, quietSkillId, skills } from './skills.ts'
import type { Invocation } from './trace.ts'
import { type FilledSlot, fillSlots } from './working-hours.ts'

/** Picks one of the weighted choices by a number in [0, 1). */
function pick<T>(choices: readonly (readonly [T, number])[], chance: number): T {
  let rest = chance * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [choice, weight] of choices) {
    rest -= weight
    if (rest < 0) return choice
  }
  return choices.findLast(([, weight]) => weight > 0)![0]
}

/** Returns true for an even `share` of the calls: 31 of each 100 for 0.31, so that small numbers keep the share too. */
function evenShare(share: number): () => boolean {
  let calls = 0
  return () => {
    calls += 1
    return Math.floor(calls * share) > Math.floor((calls - 1) * share)
  }
}

/** A telemetry event in the names of interface section 2.3, with its source row. */
export interface DemoEvent {
  skill_id: string
  skill_version: string
  archetype_id: ArchetypeId
  user_id: string
  llm_platform: string
  llm_model: string
  ts: string
  success: boolean
  latency_ms: number
  tokens_in: number
  tokens_out: number
  tokens_total_reported: number
  cost_usd_estimate: number
  error_code?: string
  session_id?: string
  trace_id?: string
  span_id?: string
  parent_span_id?: string
  metadata: { demo_row: number }
}

/** Weight of the failing skill among those of support, once its new version is rolled out to all of support. */
const rolledOutWeight = 82
const failures = { usual: 0.014, failingBefore: 0.015, failingSince: 0.31 } as const
const usualCodes = [
  ['rate_limited', 5],
  ['context_too_long', 3],
  ['platform_unavailable', 2],
] as const
const latencyMax = 599_000

/**
 * Lays the trace over a period: consecutive rows fill the quarters of an hour, with their recorded spacing stretched to
 * the quarter. Token counts are the recorded ones, in recorded order. Everything else is derived from the row and its
 * time, so the same trace and period always give the same events.
 */
export function eventsOf(trace: readonly Invocation[], period: DemoPeriod): DemoEvent[] {
  const deriver = createDeriver(period)
  const placed = fillSlots(period, trace.length).flatMap((filled, slot) =>
    trace
      .slice(filled.from, filled.to)
      .map((row) => ({ event: deriver(row, timeIn(filled, trace, row), filled), slot })),
  )
  return withSessions(placed)
}

/** Microseconds since the epoch of a row, in the slot that it falls into. */
function timeIn({ slot, from, to }: FilledSlot, trace: readonly Invocation[], row: Invocation): number {
  const first = trace[from]!.offsetMicros
  const end = trace[to]?.offsetMicros ?? trace.at(-1)!.offsetMicros + 1
  const share = (row.offsetMicros - first) / Math.max(end - first, 1)
  return slot.startMs * 1000 + Math.floor(share * ((slot.endMs - slot.startMs) * 1000 - 1))
}

/** Derives events. Even shares are counted over the events, so use one deriver for one pass over the trace. */
function createDeriver(period: DemoPeriod) {
  const failsSince = evenShare(failures.failingSince)
  const failsBefore = evenShare(failures.failingBefore)
  const isTimeout = evenShare(0.6)

  function errorOf(skill: DemoSkill, ms: number, random: () => number): string | undefined {
    const [often, code] = [random() < failures.usual, pick(usualCodes, random())]
    if (skill.id !== failingSkill.id) return often ? code : undefined
    if (ms < period.failingMs) return failsBefore() ? code : undefined
    if (!failsSince()) return undefined
    return failingSkill.errorCodes[isTimeout() ? 0 : 1]
  }

  return (row: Invocation, micros: number, { weights }: FilledSlot): DemoEvent => {
    const ms = Math.floor(micros / 1000)
    const random = numbersOf(row.row)
    const archetypeId = pick(weights, random())
    const skill = pick(skillsAt(archetypeId, ms, period), random())
    const isRolledOut = skill.id === failingSkill.id && ms >= period.failingMs
    const { platform, model, latency, bills } = modelAt(archetypeId, ms, period, random())
    const userId = userOf(archetypeId, random())
    const [jitter, noise] = [0.8 + 0.4 * random(), 0.992 + 0.016 * random()]
    const error = errorOf(skill, ms, random)
    const { tokensIn, tokensOut } = row
    const usualMs = (latency.fixed + latency.perTokenIn * tokensIn + latency.perTokenOut * tokensOut) * jitter
    // The new version also calls the refund ledger, which responds late.
    const extraMs = !isRolledOut ? 0 : error === 'upstream_timeout' ? 30_000 : 3200 * jitter
    return {
      skill_id: skill.id,
      skill_version: skill.id === failingSkill.id && !isRolledOut ? failingSkill.formerVersion : skill.version,
      archetype_id: archetypeId,
      user_id: userId,
      llm_platform: platform,
      llm_model: model,
      ts: timeOf(micros),
      success: error === undefined,
      latency_ms: Math.min(latencyMax, Math.max(1, Math.round(usualMs + extraMs))),
      tokens_in: tokensIn,
      tokens_out: tokensOut,
      tokens_total_reported: tokensIn + tokensOut,
      // Senders round and count a little differently from the list.
      cost_usd_estimate: Number((((tokensIn * bills.tokensIn + tokensOut * bills.tokensOut) / 1e6) * noise).toFixed(6)),
      ...(error === undefined ? {} : { error_code: error }),
      metadata: { demo_row: row.row },
    }
  }
}

function skillsAt(archetypeId: ArchetypeId, ms: number, period: DemoPeriod): (readonly [DemoSkill, number])[] {
  return skills.map((skill) => {
    const weight = skill.weights[archetypeId] ?? 0
    if (skill.id === quietSkillId && ms >= period.quietMs) return [skill, 0] as const
    if (skill.id === failingSkill.id && weight > 0 && ms >= period.failingMs) return [skill, rolledOutWeight] as const
    return [skill, weight] as const
  })
}

function modelAt(archetypeId: ArchetypeId, ms: number, period: DemoPeriod, chance: number): DemoModel {
  const model = pick(modelsOf[archetypeId], chance)
  return archetypeId === move.archetypeId && model === move.from && ms >= period.moveMs ? move.to : model
}

/** Squared, so that a few people use their skills a lot. */
function userOf(archetypeId: ArchetypeId, chance: number): string {
  const colleagues = people.filter((person) => person.archetypeId === archetypeId)
  return `user:${colleagues[Math.floor(chance ** 2 * colleagues.length)]!.email}`
}
