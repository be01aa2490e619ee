import type { DemoEvent } from './events.ts'
import { timeOf } from './period.ts'
import { numbersOf } from './row-numbers.ts'

/** A person who pauses for longer starts another session. */
const pauseMs = 2 * 3_600_000
/** Fewer calls within a quarter of an hour are separate questions, not the run of an agent. */
const runMin = 3
/** A longer run is divided, so that its tree stays readable. */
const runMax = 8

export interface PlacedEvent {
  event: DemoEvent
  /** Index of its quarter of an hour. The story changes only between two of them, so runs do not cross it. */
  slot: number
}

/**
 * Adds a session to every event, and the spans of a trace to the calls of one person within a quarter of an hour, if
 * there are three or more. The calls of a trace follow each other within seconds: they move ahead within their quarter
 * of an hour, so sums over quarters stay.
 */
export function withSessions(placed: readonly PlacedEvent[]): DemoEvent[] {
  const sessions = sessionsOf(placed)
  const result = new Map<number, DemoEvent>()
  for (const session of sessions) {
    const session_id = `chat-${String(rowOf(session[0]!)).padStart(5, '0')}`
    for (const calls of runsOf(session)) {
      const steps = calls.length < runMin ? calls.map(({ event }) => event) : traced(calls.map(({ event }) => event))
      for (const step of steps) result.set(step.metadata.demo_row, { ...step, session_id })
    }
  }
  return placed.map((each) => result.get(rowOf(each))!)
}

const rowOf = ({ event }: PlacedEvent) => event.metadata.demo_row

/** Groups the events of each person by pauses. */
function sessionsOf(placed: readonly PlacedEvent[]): PlacedEvent[][] {
  const sessions: PlacedEvent[][] = []
  const current = new Map<string, PlacedEvent[]>()
  for (const each of placed) {
    const { user_id, ts } = each.event
    const open = current.get(user_id)
    if (open && Date.parse(ts) - Date.parse(open.at(-1)!.event.ts) <= pauseMs) {
      open.push(each)
      continue
    }
    const session = [each]
    current.set(user_id, session)
    sessions.push(session)
  }
  return sessions
}

/** Divides a session into the calls of each quarter of an hour. */
function runsOf(session: readonly PlacedEvent[]): PlacedEvent[][] {
  const runs: PlacedEvent[][] = []
  for (const each of session) {
    const last = runs.at(-1)
    if (last && last[0]!.slot === each.slot && last.length < runMax) last.push(each)
    else runs.push([each])
  }
  return runs
}

/** Returns calls as spans of one trace: the first is the root, which calls each third one, which calls the two after it. */
function traced(calls: readonly DemoEvent[]): DemoEvent[] {
  // Another stream than that of the row itself.
  const random = numbersOf(-1 - calls[0]!.metadata.demo_row)
  const trace_id = hex(random, 32)
  const spans = calls.map(() => hex(random, 16))
  let nextMicros = 0
  return calls.map((call, index) => {
    const own = microsOf(call.ts)
    const micros = index === 0 ? own : Math.min(own, nextMicros)
    nextMicros = micros + call.latency_ms * 1000 + Math.round(1000 * (40 + 900 * random()))
    const leader = index - ((index - 1) % 3)
    const parent = index === 0 ? undefined : spans[leader === index ? 0 : leader]
    return {
      ...call,
      ts: timeOf(micros),
      trace_id,
      span_id: spans[index]!,
      ...(parent === undefined ? {} : { parent_span_id: parent }),
    }
  })
}

function hex(random: () => number, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
}

/** Microseconds since the epoch of a time with six fractional digits. */
function microsOf(ts: string): number {
  return Date.parse(ts) * 1000 + Number(ts.slice(-4, -1))
}
