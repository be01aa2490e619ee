import { type Static, Type } from 'typebox'
import { latencyMsLimit } from './limits.ts'
import type { RecordType } from './literals.ts'
import { costUsdMax } from './money.ts'
import { object } from './object-schema.ts'

/** Filters of queries and exports by members that no column contains. Outputs have platform, model and cost, too. */

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, description, examples: [example] }))
const latency = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: latencyMsLimit, description, examples: [2000] }))
const cost = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: costUsdMax, description, examples: [0.05] }))

export const eventFilterMembers = {
  success: Type.Optional(
    Type.Boolean({ description: 'Telemetry events that succeeded, or that failed', examples: [false] }),
  ),
  error_code: text('Telemetry events with this error code', 'timeout'),
  llm_platform: text('Telemetry events and outputs of this platform', 'claude'),
  llm_model: text('Telemetry events and outputs of this model', 'claude-sonnet-4-5'),
  latency_ms__gte: latency('Telemetry events that took at least this long, in milliseconds'),
  latency_ms__lte: latency('Telemetry events that took at most this long, in milliseconds'),
  cost_usd__gte: cost(
    'Telemetry events and outputs of at least this cost: the calculated one of the record, else the reported one',
  ),
  cost_usd__lte: cost('Telemetry events and outputs of at most this cost, likewise'),
}

const EventFilterSchema = object(eventFilterMembers)
export type EventFilter = Static<typeof EventFilterSchema>

const names = Object.keys(eventFilterMembers) as (keyof EventFilter)[]

/** Returns the event filter among the members of a filter or query; undefined if there is none. */
export function eventFilterIn(members: EventFilter): EventFilter | undefined {
  const given = names.filter((name) => members[name] !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, members[name]]))
}

/** Returns the types of records that can match. */
export function eventFilterTypes({ llm_platform: _p, llm_model: _m, ...filter }: EventFilter): readonly RecordType[] {
  const { cost_usd__gte: _gte, cost_usd__lte: _lte, ...ofEvents } = filter
  const isOfEvents = Object.values(ofEvents).some((value) => value !== undefined)
  return isOfEvents ? ['telemetry_event'] : ['output', 'telemetry_event']
}

/** Returns whether a record matches every member of the filter, by its canonical members. */
export function matchesEvent(filter: EventFilter, members: Readonly<Record<string, unknown>>): boolean {
  const { latency_ms__gte, latency_ms__lte, cost_usd__gte, cost_usd__lte, ...exact } = filter
  const { latency_ms, cost_usd_computed, cost_usd_estimate } = members
  return (
    isWithin(latency_ms, latency_ms__gte, latency_ms__lte) &&
    isWithin(cost_usd_computed ?? cost_usd_estimate, cost_usd__gte, cost_usd__lte) &&
    Object.entries(exact).every(([name, value]) => value === undefined || members[name] === value)
  )
}

function isWithin(value: unknown, least: number | undefined, most: number | undefined): boolean {
  if (least === undefined && most === undefined) return true
  return typeof value === 'number' && value >= (least ?? -Infinity) && value <= (most ?? Infinity)
}
