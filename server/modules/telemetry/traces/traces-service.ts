import { DomainError } from '../../../../contract/domain-error.ts'
import {
  sessionEventsCounted,
  sessionsPageDefault,
  sessionsScannedMax,
  stepsPageMax,
} from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { creationBounds } from '../../../records/record-clock.ts'
import { readTraced, stepsOf, type TracedEvent, totalsOf } from './step-tree.ts'
import type { SessionList, SessionsQuery, Steps, StepsQuery } from './traces-schemas.ts'
import { eventsOf, newestEvents, type SessionScan, scanSessions, sessionsSeen } from './traces-store.ts'

/** Reads the telemetry events of sessions and traces. */
export interface Traces {
  /** Lists sessions by their newest event. Throws `validation-failed` and `invalid-cursor`. */
  sessions(tenant: Tenant, query: SessionsQuery): Promise<SessionList>
  /** Returns steps of a session. Throws `not-found` and `invalid-cursor`. */
  session(tenant: Tenant, sessionId: string, query: StepsQuery): Promise<Steps>
  /** Returns steps of a trace. Throws `not-found` and `invalid-cursor`. */
  trace(tenant: Tenant, traceId: string, query: StepsQuery): Promise<Steps>
}

const readMode = { readOnly: true, inIndexOrder: true, onReplica: true } as const
const namesMax = 10
const sessionColumns = ['user_id', 'skill_id', 'archetype_id'] as const

export function createTraces({ database, cursorKey }: { database: Database; cursorKey: Buffer }): Traces {
  async function steps(
    { slug }: Tenant,
    of: { column: 'trace_id' | 'session_id'; id: string },
    { limit = stepsPageMax, cursor }: StepsQuery,
  ): Promise<Steps> {
    const binding = { tenant: slug, operation: 'steps', query: { [of.column]: of.id } }
    const after = cursor === undefined ? undefined : String(openCursor(cursorKey, binding, cursor))
    const records = await database.withTenant(slug, (tx) => eventsOf(tx, of, after, limit + 1), readMode)
    const shown = records.slice(0, limit)
    const { events, unreadable } = readTraced(shown)
    const hasMore = records.length > limit
    // Hides the existence of purged events.
    if (events.length === 0 && unreadable === 0 && after === undefined && !hasMore) throw unknown(of)
    return {
      ...(events.length === 0 ? {} : { totals: totalsOf(events) }),
      ...{ steps: stepsOf(events), unreadable },
      next_cursor: hasMore ? signCursor(cursorKey, binding, shown.at(-1)!.recordId) : null,
    }
  }

  return {
    async sessions(tenant, query) {
      const binding = bindingOf(tenant, query)
      const after = query.cursor === undefined ? undefined : String(openCursor(cursorKey, binding, query.cursor))
      const { limit = sessionsPageDefault } = query
      const scan = scanOf(query)
      const { items, lastId } = await database.withTenant(
        tenant.slug,
        (tx) => readSessions(tx, scan, after, limit),
        readMode,
      )
      return { items, next_cursor: lastId === undefined ? null : signCursor(cursorKey, binding, lastId) }
    },
    session: (tenant, id, query) => steps(tenant, { column: 'session_id', id }, query),
    trace: (tenant, id, query) => steps(tenant, { column: 'trace_id', id }, query),
  }
}

function unknown({ column }: { column: 'trace_id' | 'session_id' }): DomainError {
  return new DomainError('not-found', `No telemetry event of this tenant has this ${column}.`)
}

const scannedAtFirst = 200
const scannedAtOnce = 2000

/** Reads a page of sessions, and the event behind which the next page begins; undefined at the end of the list. */
async function readSessions(tx: TenantTx, scan: SessionScan, after: string | undefined, limit: number) {
  const ids: string[] = []
  const known = new Set<string>()
  let beforeId = after ?? scan.beforeId
  let lastId: string | undefined
  let left = sessionsScannedMax
  for (let size = scannedAtFirst; left > 0; size = scannedAtOnce) {
    const asked = Math.min(size, left)
    const rows = await scanSessions(tx, { ...scan, beforeId }, asked)
    const fresh = rows.flatMap(({ sessionId }) => (sessionId === null || known.has(sessionId) ? [] : [sessionId]))
    const seen = after === undefined ? known : await sessionsSeen(tx, [...new Set(fresh)], scan, after)
    for (const { recordId, sessionId } of rows) {
      if (sessionId === null || known.has(sessionId) || seen.has(sessionId)) continue
      if (ids.length === limit) return { items: await itemsOf(tx, ids, scan.beforeId), lastId }
      known.add(sessionId)
      ids.push(sessionId)
      lastId = recordId
    }
    beforeId = rows.at(-1)?.recordId
    if (rows.length < asked) return { items: await itemsOf(tx, ids, scan.beforeId), lastId: undefined }
    left -= rows.length
  }
  return { items: await itemsOf(tx, ids, scan.beforeId), lastId: beforeId }
}

/** Returns the items of the sessions that have an event that can be read. */
async function itemsOf(
  tx: TenantTx,
  ids: readonly string[],
  beforeId: string | undefined,
): Promise<SessionList['items']> {
  if (ids.length === 0) return []
  const found = await newestEvents(tx, ids, beforeId, sessionEventsCounted + 1)
  const yieldIfLong = createEventLoopYielder()
  const items: SessionList['items'] = []
  for (const session_id of ids) {
    const records = found.get(session_id) ?? []
    const { events } = readTraced(records.slice(0, sessionEventsCounted))
    await yieldIfLong()
    if (events.length === 0) continue
    items.push({
      session_id,
      ...totalsOf(events),
      ...{ skill_ids: namesIn(events, 'skill_id'), user_ids: namesIn(events, 'user_id') },
      is_partial: records.length > sessionEventsCounted,
    })
  }
  return items
}

/** Returns the first names in the order of time, so that the list shows what a session did first. */
function namesIn(events: readonly TracedEvent[], name: 'skill_id' | 'user_id'): string[] {
  const byTime = events.toSorted((one, other) => one.event.exactMs - other.event.exactMs)
  return [...new Set(byTime.map(({ event }) => event[name]))].slice(0, namesMax)
}

/** Returns the scan by the filter that matches least; the others are applied to its events. */
function scanOf(query: SessionsQuery): SessionScan {
  const { fromId, belowId: beforeId } = creationBounds(query)
  const given = sessionColumns.flatMap((column) => {
    const value = query[column]
    return value === undefined ? [] : [[column, value] as const]
  })
  const [first = ['record_type', 'telemetry_event'] as const, ...filters] = given
  return { column: first[0], value: first[1], filters, fromId, beforeId }
}

/** Returns the binding of a cursor. The page size is not bound: a reader may change it between pages. */
function bindingOf({ slug }: Tenant, query: SessionsQuery): CursorBinding {
  const { cursor: _cursor, limit: _limit, ...parameters } = query
  return { tenant: slug, operation: 'listTelemetrySessions', query: parameters }
}
