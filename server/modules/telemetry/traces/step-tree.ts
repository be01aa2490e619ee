import { usdOfMicros } from '../../../../contract/money.ts'
import { ExactSum } from '../rollups/rollup-cells.ts'
import { type ReadEvent, readStoredEvent } from '../stored-event.ts'
import { usdOfExactMicros } from '../summary/summary-response.ts'
import type { Step } from './traces-schemas.ts'
import type { TracedRecord } from './traces-store.ts'

/** An event of a trace or session that can be read. */
export interface TracedEvent {
  recordId: string
  event: ReadEvent
}

/** Returns the events that can be read, in order, without purged ones, and the number of the others. */
export function readTraced(records: readonly TracedRecord[]): { events: TracedEvent[]; unreadable: number } {
  const events: TracedEvent[] = []
  let unreadable = 0
  for (const { canonical, recordId, ...rating } of records) {
    if (canonical === null) continue
    const event = readStoredEvent({ canonical, ...rating })
    if (event) events.push({ recordId, event })
    else unreadable += 1
  }
  return { events, unreadable }
}

/** Returns sums over at least one event. */
export function totalsOf(events: readonly TracedEvent[]) {
  const [tokensIn, tokensOut, estimate, computed] = [new ExactSum(), new ExactSum(), new ExactSum(), new ExactSum()]
  let [failures, unpriced] = [0, 0]
  let started = events[0]!.event.ts
  let ended = -Infinity
  for (const { event } of events) {
    tokensIn.add(event.tokens_in)
    tokensOut.add(event.tokens_out)
    estimate.add(event.estimateMicros)
    if (event.computedMicros === undefined) unpriced += 1
    else computed.add(event.computedMicros)
    if (!event.success) failures += 1
    if (event.ts < started) started = event.ts
    ended = Math.max(ended, event.exactMs + event.latency_ms)
  }
  return {
    started_at: started,
    ended_at: timeAt(ended),
    events: events.length,
    failures,
    tokens_in: Number(tokensIn.value),
    tokens_out: Number(tokensOut.value),
    cost_usd_estimate: usdOfExactMicros(estimate.value),
    cost_usd_computed: usdOfExactMicros(computed.value),
    unpriced,
  }
}

/** Returns a time in the form of the API. Milliseconds with a fraction are exact to the microsecond. */
function timeAt(exactMs: number): string {
  const wholeMs = Math.floor(exactMs)
  const micros = Math.min(999, Math.round((exactMs - wholeMs) * 1000))
  return `${new Date(wholeMs).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}

/**
 * Returns events as a tree in depth-first order: roots and siblings by their start, then by id. A span is the child of
 * the event with its parent's span id in the same trace, if that is among the events; of several events with one span
 * id, the first is the parent. Events of a cycle have no root, so its first event becomes one.
 */
export function stepsOf(events: readonly TracedEvent[]): Step[] {
  const ordered = [...events].sort((a, b) => compare(a.event.ts, b.event.ts) || compare(a.recordId, b.recordId))
  const bySpan = new Map<string, TracedEvent>()
  for (const one of ordered) {
    const { trace_id, span_id } = one.event
    if (span_id !== undefined && !bySpan.has(keyOf(trace_id, span_id))) bySpan.set(keyOf(trace_id, span_id), one)
  }
  const children = Map.groupBy(ordered, ({ event, ...one }) => {
    const { trace_id, parent_span_id } = event
    const parent = parent_span_id === undefined ? undefined : bySpan.get(keyOf(trace_id, parent_span_id))
    return parent?.recordId === one.recordId ? undefined : parent
  })
  const startMs = ordered[0]?.event.exactMs ?? 0
  const steps: Step[] = []
  const placed = new Set<string>()
  const place = (root: TracedEvent) => {
    // A stack, because a chain of a thousand spans would be as many nested calls.
    const waiting: { one: TracedEvent; parentId: string | undefined; depth: number }[] = [
      { one: root, parentId: undefined, depth: 0 },
    ]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { one, parentId, depth } = next
      if (placed.has(one.recordId)) continue
      placed.add(one.recordId)
      steps.push(stepOf(one, parentId, depth, startMs))
      for (const child of (children.get(one) ?? []).toReversed()) {
        waiting.push({ one: child, parentId: one.recordId, depth: depth + 1 })
      }
    }
  }
  for (const root of children.get(undefined) ?? []) place(root)
  for (const one of ordered) if (!placed.has(one.recordId)) place(one)
  return steps
}

function keyOf(traceId: string | undefined, spanId: string): string {
  return `${traceId ?? ''} ${spanId}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const optionalMembers = ['llm_model', 'error_code', 'session_id', 'trace_id', 'span_id', 'parent_span_id'] as const

function stepOf({ recordId, event }: TracedEvent, parentId: string | undefined, depth: number, startMs: number): Step {
  const { ts, latency_ms, skill_id, skill_version, archetype_id, user_id, llm_platform, success } = event
  const step: Step = {
    record_id: recordId,
    ...(parentId === undefined ? {} : { parent_record_id: parentId }),
    depth,
    ts,
    offset_ms: Math.round((event.exactMs - startMs) * 1000) / 1000,
    latency_ms,
    skill_id,
    skill_version,
    archetype_id,
    user_id,
    llm_platform,
    success,
    tokens_in: event.tokens_in,
    tokens_out: event.tokens_out,
    cost_usd_estimate: usdOfMicros(event.estimateMicros),
    ...(event.computedMicros === undefined ? {} : { cost_usd_computed: usdOfMicros(event.computedMicros) }),
  }
  for (const name of optionalMembers) {
    const value = event[name]
    if (typeof value === 'string') step[name] = value
  }
  return step
}
