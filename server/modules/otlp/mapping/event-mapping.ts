import { latencyMsLimit } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/index.ts'
import type { Attributes, AttributeValue } from '../attributes.ts'
import type { OtlpItem, Signal, WantedNames } from '../otlp-types.ts'
import { attributeNames, claudeCodeNames, fixedNames, operations, platformOfProvider } from './attribute-names.ts'
import { claudeEventOf, type SessionSkills, unmasked } from './claude-code.ts'
import type { OtlpMapping } from './mapping-schemas.ts'

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

const semver = new RegExp(patterns.semver)
const defaultSkillVersion = '0.0.0'

type Rule = OtlpMapping['rules'][number]
type Names = Readonly<Partial<Record<keyof typeof attributeNames | 'latency_ms', readonly string[]>>>

/** Returns the names of all attributes that a mapping reads. */
export function wantedNames({ rules }: OtlpMapping): WantedNames {
  return new Set([...fixedNames, ...rules.flatMap(({ when }) => Object.keys(when))])
}

/** Maps a span or log record. */
export function mapItem(item: OtlpItem, context: MappingContext): MappedItem {
  const { mapping, signal } = context
  const { attributes } = item
  if (item.fault !== undefined) return { fault: item.fault }
  const claudeEvent = signal === 'logs' ? claudeEventOf(item) : undefined
  if (claudeEvent === 'skill_activated') {
    context.sessions.activated(String(attributes.get('session.id') ?? ''), ownSkill(attributes))
    return 'ignored'
  }
  const isClaude = claudeEvent === 'api_request'
  const operation = isClaude ? 'chat' : attributes.get('gen_ai.operation.name')
  const rules = mapping.rules.filter((rule) => matches(rule, attributes))
  const isIgnored = typeof operation === 'string' && mapping.ignore_operations.includes(operation)
  if (isIgnored || !(operations.has(operation) || rules.length > 0)) return 'ignored'
  if (signal === 'traces' && (item.traceId === undefined || item.spanId === undefined)) {
    return { fault: 'needs a trace id of 16 bytes and a span id of 8 bytes, not all zero' }
  }
  if (item.startNanos === 0n) return { fault: 'has no time' }
  const names: Names = isClaude ? { ...attributeNames, ...claudeCodeNames } : attributeNames
  const event = membersOf(item, { ...context, rules, names, operation, isClaude })
  if (event.user_id === undefined) return { fault: `names no user: set one of ${attributeNames.user_id.join(', ')}` }
  if (event.skill_id === undefined) {
    return { fault: `names no skill: set skill.name, or default_skill_id of the mapping` }
  }
  const users = attributeNames.user_id.flatMap((name) => userOf(attributes.get(name)) ?? [])
  return { event, users: event.archetype_id === undefined ? users : [] }
}

interface ItemContext extends MappingContext {
  rules: readonly Rule[]
  names: Names
  operation: AttributeValue | undefined
  isClaude: boolean
}

function membersOf(item: OtlpItem, context: ItemContext): Record<string, JsonValue> {
  const { names, rules, isClaude, signal } = context
  const { attributes } = item
  const first = (member: keyof Names) => firstOf(attributes, names[member] ?? [])
  const error = first('error_code')
  // Spans have a status, and log records do not.
  const isFailed = item.isError || (signal === 'logs' && error !== undefined)
  const event: Record<string, JsonValue | undefined> = {
    skill_id: skillOf(item, context),
    skill_version: versionOf(first('skill_version')),
    archetype_id: setBy(rules, 'archetype_id') ?? identifierOf(first('archetype_id')),
    user_id: userOf(first('user_id')),
    llm_platform: setBy(rules, 'llm_platform') ?? (isClaude ? 'claude' : platformOf(first('llm_platform'))),
    llm_model: modelOf(first('llm_model')),
    ts: timeOf(item.startNanos),
    success: !isFailed,
    latency_ms: latencyOf(item, first('latency_ms')),
    tokens_in: numberOf(first('tokens_in')) ?? 0,
    tokens_out: numberOf(first('tokens_out')) ?? 0,
    cost_usd_estimate: numberOf(first('cost_usd_estimate')),
    error_code: isFailed ? (identifierOf(error) ?? 'error') : undefined,
    trace_id: item.traceId,
    span_id: item.spanId,
    parent_span_id: item.parentSpanId,
    session_id: textOf(first('session_id')),
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
function skillOf(item: OtlpItem, { mapping, rules, isClaude, sessions, operation }: ItemContext): string | undefined {
  const { attributes } = item
  const byRule = setBy(rules, 'skill_id')
  const fallback = mapping.default_skill_id ?? undefined
  if (isClaude) {
    return ownSkill(attributes) ?? sessions.lastOf(String(attributes.get('session.id') ?? '')) ?? byRule ?? fallback
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

function textOf(value: AttributeValue | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value)
}

/** Replaces what an identifier cannot have by hyphens: names of agents have spaces. */
function identifierOf(value: AttributeValue | undefined): string | undefined {
  return meaningful(
    textOf(value)
      ?.trim()
      .replaceAll(/[^A-Za-z0-9_.:-]+/g, '-'),
  )
}

/** Drops a variant in brackets, such as `[1m]`, which no price list has. */
function modelOf(value: AttributeValue | undefined): string | undefined {
  const model = textOf(value)
    ?.trim()
    .replace(/\[[^\]]*\]$/, '')
  return meaningful(model?.replaceAll(/[^A-Za-z0-9_.:/@-]+/g, '-'))
}

/** Returns undefined for an id without letters and digits: names in other scripts have become hyphens. */
function meaningful(id: string | undefined): string | undefined {
  const cut = id?.slice(0, 128)
  return cut !== undefined && /[A-Za-z0-9]/.test(cut) ? cut : undefined
}

function versionOf(value: AttributeValue | undefined): string {
  const version = textOf(value)
  return version !== undefined && version.length <= 128 && semver.test(version) ? version : defaultSkillVersion
}

function userOf(value: AttributeValue | undefined): string | undefined {
  const user = textOf(value)?.trim()
  if (user === undefined || user === '') return undefined
  return user.startsWith('user:') ? user : `user:${user}`
}

function platformOf(value: AttributeValue | undefined): string {
  const provider = textOf(value)?.toLowerCase() ?? 'otel'
  const name = provider.replaceAll(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '')
  return platformOfProvider.get(provider) ?? `custom:${name.slice(0, 63) || 'otel'}`
}

/** Returns undefined for text that is no number; the checks of events refuse any other wrong value. */
function numberOf(value: AttributeValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
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

function withoutAbsent(members: Record<string, JsonValue | undefined>): Record<string, JsonValue> {
  const present: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) present[name] = value
  return present
}
