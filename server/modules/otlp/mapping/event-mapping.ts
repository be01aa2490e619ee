import { latencyMsLimit } from '../../../../contract/limits.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/index.ts'
import type { Attributes, AttributeValue } from '../inherited-attributes.ts'
import type { OtlpItem, Signal, WantedNames } from '../otlp-types.ts'
import { attributeNames, eventNameAttribute, fixedNames, operations } from './attribute-names.ts'
import { type AgentCall, agentReportOf, type Names } from './coding-agents.ts'
import {
  errorOf,
  identifierOf,
  modelOf,
  numberOf,
  platformOf,
  sessionOf,
  textOf,
  userOf,
  versionOf,
  withoutAbsent,
} from './event-values.ts'
import type { OtlpMapping } from './mapping-schemas.ts'
import { type SessionSkills, unmasked } from './session-skills.ts'

/** An event to be stored, which may still lack its archetype. */
export interface MappedEvent {
  event: Record<string, JsonValue>
  /** References to the user, the first of whom that the roster knows has the archetype. */
  users: readonly string[]
}

export type MappedItem = MappedEvent | { fault: string } | 'ignored'

export interface MappingContext {
  mapping: OtlpMapping
  signal: Signal
  /** Whether events may have metadata: not in Mode C. */
  withMetadata: boolean
  sessions: SessionSkills
}

type Rule = OtlpMapping['rules'][number]

/** Returns the names of all attributes that a mapping reads. */
export function wantedNames({ rules }: OtlpMapping): WantedNames {
  return new Set([...fixedNames, ...rules.flatMap(({ when }) => Object.keys(when))])
}

/** Maps a span or log record. */
export function mapItem(item: OtlpItem, context: MappingContext): MappedItem {
  const { mapping, signal } = context
  const { attributes } = item
  if (item.fault !== undefined) return { fault: item.fault }
  const report = signal === 'logs' ? agentReportOf(item) : undefined
  if (report === 'ignored') return 'ignored'
  if (report === 'skill_activated') {
    const session = sessionOf(attributes.get('session.id'))
    if (session !== undefined) context.sessions.activated(session, ownSkill(attributes), timeOf(item.startNanos))
    return 'ignored'
  }
  const call = typeof report === 'object' ? report : undefined
  const operation = call?.operation ?? attributes.get('gen_ai.operation.name')
  const rules = mapping.rules.filter((rule) => matches(rule, attributes))
  // A rule on the program of a coding agent means its calls, and not its prompts and tools.
  const isByRule = rules.some(({ when }) => report !== 'other' || Object.hasOwn(when, eventNameAttribute))
  const isIgnored = typeof operation === 'string' && mapping.ignore_operations.includes(operation)
  if (isIgnored || !(operations.has(operation) || isByRule)) return 'ignored'
  if (signal === 'traces' && (item.traceId === undefined || item.spanId === undefined)) {
    return { fault: 'needs a trace id of 16 bytes and a span id of 8 bytes, not all zero' }
  }
  if (item.startNanos === 0n) return { fault: 'has no time' }
  const names: Names = call?.names ?? attributeNames
  const event = membersOf(item, { ...context, rules, names, operation, call })
  if (event.user_id === undefined) return { fault: `names no user: set one of ${names.user_id?.join(', ')}` }
  if (event.skill_id === undefined) {
    return { fault: `names no skill: set skill.name, or default_skill_id of the mapping` }
  }
  const users = (names.user_id ?? []).flatMap((name) => userOf(attributes.get(name)) ?? [])
  return { event, users: event.archetype_id === undefined ? users : [] }
}

/** Returns the session of a log record of Claude Code that reports a call and names no skill. */
export function sessionOfUnnamedCall(item: OtlpItem): string | undefined {
  const call = agentReportOf(item)
  const hasSkills = typeof call === 'object' && call.hasSkills
  return hasSkills && ownSkill(item.attributes) === undefined ? sessionOf(item.attributes.get('session.id')) : undefined
}

interface ItemContext extends MappingContext {
  rules: readonly Rule[]
  names: Names
  operation: AttributeValue | undefined
  /** Only for a log record of a coding agent. */
  call: AgentCall | undefined
}

function membersOf(item: OtlpItem, context: ItemContext): Record<string, JsonValue> {
  const { names, rules, call, signal } = context
  const { attributes } = item
  const first = (member: keyof Names) => firstOf(attributes, names[member] ?? [])
  const error = errorOf(first('error_code'))
  // Spans have a status, and log records do not.
  const isFailed = call?.isFailed ?? (item.isError || (signal === 'logs' && error !== undefined))
  const tokens = (member: 'tokens_in' | 'tokens_out') =>
    (numberOf(first(member)) ?? 0) + (numberOf(firstOf(attributes, call?.added[member] ?? [])) ?? 0)
  const event: Record<string, JsonValue | undefined> = {
    skill_id: skillOf(item, context),
    skill_version: versionOf(first('skill_version')),
    archetype_id: setBy(rules, 'archetype_id') ?? identifierOf(first('archetype_id')),
    user_id: userOf(first('user_id')),
    llm_platform: setBy(rules, 'llm_platform') ?? call?.platform ?? platformOf(first('llm_platform')),
    llm_model: modelOf(first('llm_model')),
    ts: timeOf(item.startNanos),
    success: !isFailed,
    latency_ms: latencyOf(item, first('latency_ms')),
    tokens_in: tokens('tokens_in'),
    tokens_out: tokens('tokens_out'),
    cost_usd_estimate: numberOf(first('cost_usd_estimate')),
    error_code: isFailed ? (error ?? 'error') : undefined,
    trace_id: item.traceId,
    span_id: item.spanId,
    parent_span_id: item.parentSpanId,
    session_id: sessionOf(first('session_id')),
    metadata: context.withMetadata ? metadataOf(context, first) : undefined,
  }
  return withoutAbsent(event)
}

function metadataOf(context: ItemContext, first: (member: keyof Names) => AttributeValue | undefined): JsonObject {
  const cost = numberOf(first('cost_usd_estimate'))
  return withoutAbsent({
    operation: textOf(context.operation),
    tokens_cache_read: numberOf(first('metadata.tokens_cache_read')),
    tokens_cache_write: numberOf(first('metadata.tokens_cache_write')),
    tokens_reasoning: numberOf(first('metadata.tokens_reasoning')),
    cost_source: cost === undefined ? 'hub' : undefined,
  })
}

/** Claude Code masks skills, so there a session's last known skill precedes the rules. */
function skillOf(item: OtlpItem, { mapping, rules, call, sessions, operation }: ItemContext): string | undefined {
  const { attributes } = item
  const byRule = setBy(rules, 'skill_id')
  const fallback = mapping.default_skill_id ?? undefined
  if (call?.hasSkills) {
    const session = sessionOf(attributes.get('session.id')) ?? ''
    return ownSkill(attributes) ?? sessions.lastOf(session) ?? byRule ?? fallback
  }
  const names = ['skill.name', 'gen_ai.agent.name', ...(operation === 'execute_tool' ? ['gen_ai.tool.name'] : [])]
  const named = names.map((name) => identifierOf(attributes.get(name))).find((id) => id !== undefined)
  return byRule ?? unmasked(named) ?? fallback
}

/** Returns the skill that a log record of Claude Code names itself. */
function ownSkill(attributes: Attributes): string | undefined {
  return unmasked(identifierOf(attributes.get('skill.name')))
}

function matches({ when }: Rule, attributes: Attributes): boolean {
  return Object.entries(when).every(([name, value]) => {
    const actual = attributes.get(name)
    return actual !== undefined && String(actual) === String(value)
  })
}

function setBy(rules: readonly Rule[], member: keyof Rule['set']): string | undefined {
  return rules.find(({ set }) => set[member] !== undefined)?.set[member]
}

function firstOf(attributes: Attributes, names: readonly string[]): AttributeValue | undefined {
  for (const name of names) {
    const value = attributes.get(name)
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/** Rounds up, so that no duration is 0. A log record without a duration took the least. */
function latencyOf({ startNanos, endNanos }: OtlpItem, stated: AttributeValue | undefined): number {
  const statedMs = numberOf(stated)
  if (statedMs !== undefined) return Math.max(1, Math.min(Math.round(statedMs), latencyMsLimit))
  if (endNanos <= startNanos) return 1
  return Math.min(Math.ceil(Number(endNanos - startNanos) / 1e6), latencyMsLimit)
}

function timeOf(nanos: bigint): string {
  const micros = nanos / 1000n
  const text = new Date(Number(micros / 1000n)).toISOString()
  return `${text.slice(0, -1)}${String(micros % 1000n).padStart(3, '0')}Z`
}
