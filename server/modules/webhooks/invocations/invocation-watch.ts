import { usdOfMicros } from '../../../../contract/money.ts'
import { wantsKind } from '../../../../contract/webhook-events.ts'
import { wholeThresholds } from '../endpoints/webhook-defaults.ts'
import type {
  Endpoint,
  IngestedEvent,
  InvocationEventKind,
  InvocationWatch,
  OutgoingMessage,
  WebhookFilters,
} from '../webhooks-types.ts'
import { invocationData } from './invocation-data.ts'

/** Endpoints that want a kind from the same value on: one message tells all of them. */
interface Audience {
  /** Undefined for failures. */
  threshold: number | undefined
  listeners: { webhookId: string; lets: (event: IngestedEvent) => boolean }[]
}

type Interest = Readonly<Record<InvocationEventKind, readonly Audience[]>>

/** What the enabled ones among the endpoints want of single invocations; undefined where that is nothing. */
export function invocationWatch(endpoints: readonly Endpoint[]): InvocationWatch | undefined {
  const enabled = endpoints.filter((endpoint) => endpoint.enabled)
  const audiences = (kind: InvocationEventKind, thresholdOf: (endpoint: Endpoint) => number | undefined): Audience[] =>
    [
      ...Map.groupBy(
        enabled.filter(({ events }) => wantsKind(events, kind)),
        thresholdOf,
      ),
    ].map(([threshold, those]) => ({
      threshold,
      listeners: those.map(({ webhookId, filters }) => ({ webhookId, lets: filterOf(filters) })),
    }))
  const interest: Interest = {
    'skill.invocation_failed': audiences('skill.invocation_failed', () => undefined),
    'skill.latency_exceeded': audiences(
      'skill.latency_exceeded',
      ({ thresholds }) => wholeThresholds(thresholds).latency_ms,
    ),
    'skill.cost_exceeded': audiences('skill.cost_exceeded', ({ thresholds }) => wholeThresholds(thresholds).cost_usd),
  }
  if (Object.values(interest).every(({ length }) => length === 0)) return undefined
  return { messagesOf: (events) => messagesOf(interest, events) }
}

function messagesOf(interest: Interest, events: readonly IngestedEvent[]): OutgoingMessage[] {
  const messages: OutgoingMessage[] = []
  const tell = (event: IngestedEvent, kind: InvocationEventKind, isMet: (threshold: number) => boolean) => {
    for (const { threshold, listeners } of interest[kind]) {
      if (threshold !== undefined && !isMet(threshold)) continue
      const webhookIds = listeners.filter(({ lets }) => lets(event)).map(({ webhookId }) => webhookId)
      if (webhookIds.length > 0) messages.push(messageOf(event, kind, threshold, webhookIds))
    }
  }
  for (const event of events) {
    if (!event.success) tell(event, 'skill.invocation_failed', () => true)
    tell(event, 'skill.latency_exceeded', (latencyMs) => event.latencyMs > latencyMs)
    tell(event, 'skill.cost_exceeded', (usd) => usdOfMicros(costMicrosOf(event)) > usd)
  }
  return messages
}

/** The greater of what was estimated and what the Hub has computed. */
function costMicrosOf({ costEstimateMicros, costComputedMicros = 0 }: IngestedEvent): number {
  return Math.max(costEstimateMicros, costComputedMicros)
}

function messageOf(
  event: IngestedEvent,
  kind: InvocationEventKind,
  threshold: number | undefined,
  webhookIds: readonly string[],
): OutgoingMessage {
  return {
    kind,
    occurredAt: String(event.fields.ts),
    data: invocationData(event, threshold),
    recordId: event.recordId,
    userId: event.userId,
    webhookIds,
  }
}

function filterOf({ skill_ids, archetype_ids }: WebhookFilters): (event: IngestedEvent) => boolean {
  const skills = skill_ids && new Set(skill_ids)
  const archetypes = archetype_ids && new Set(archetype_ids)
  return ({ skillId, archetypeId }) => skills?.has(skillId) !== false && archetypes?.has(archetypeId) !== false
}
