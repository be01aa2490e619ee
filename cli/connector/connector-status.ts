import type { DatabaseSync } from 'node:sqlite'
import { formatTimestamp } from '../../contract/timestamp.ts'
import type { Forwarder } from './forwarder.ts'
import type { Counter } from './spool-database.ts'
import { usedBytes } from './spool-intake.ts'

/** The response of GET /status. */
export type ConnectorStatus = ReturnType<ReturnType<typeof connectorStatus>>

/** Reads all metrics of a spool at one point in time, whether or not a connector runs. */
export function readSpoolFigures(database: DatabaseSync) {
  const one = (sql: string) => database.prepare(sql).get() ?? {}
  const valuesOf = (table: 'binding' | 'counters') => {
    const rows = database.prepare(`select name, value from ${table}`).all()
    return new Map(rows.map(({ name, value }) => [name, value]))
  }
  const [binding, counters] = [valuesOf('binding'), valuesOf('counters')]
  const total = (name: Counter) => Number(counters.get(name) ?? 0)
  const uncertain = one(`select count(distinct b.id) as batches, count(e.sequence) as events
    from batches b join events e on e.batch_id = b.id where b.uncertain_because is not null`)
  const all = one('select count(*) as n from events')
  const oldest = one(`select accepted_ms from events
    where batch_id is null or batch_id not in (select id from batches where uncertain_because is not null)
    order by sequence limit 1`)
  return {
    tenant: String(binding.get('tenant') ?? ''),
    hub_url: String(binding.get('hub_url') ?? ''),
    /** Number of waiting events, including those in flight, excluding those set aside. */
    pending: Number(all.n) - Number(uncertain.events),
    ...(oldest.accepted_ms !== undefined && {
      oldest_pending_seconds: Math.max(0, Math.round((Date.now() - Number(oldest.accepted_ms)) / 1000)),
    }),
    uncertain: { batches: Number(uncertain.batches), events: Number(uncertain.events) },
    /** Number of events that the Hub refused and that are kept here. */
    refused: Number(one('select count(*) as n from refused').n),
    /** Counts since the spool was created. */
    totals: {
      accepted: total('accepted'),
      forwarded: total('forwarded'),
      refused: total('refused'),
      dropped: total('dropped'),
    },
    used_bytes: usedBytes(database),
  }
}

export function connectorStatus(deps: {
  database: DatabaseSync
  bytesMax: number
  obstacle: () => string | undefined
  forwarder: Forwarder
}) {
  const startedAtMs = Date.now()
  return () => {
    const { activity, lastForwardedAtMs, lastError, nextAttemptAtMs } = deps.forwarder.state
    const obstacle = deps.obstacle()
    return {
      activity,
      ...readSpoolFigures(deps.database),
      limit_bytes: deps.bytesMax,
      started_at: formatTimestamp(startedAtMs),
      ...(lastForwardedAtMs !== undefined && { last_forwarded_at: formatTimestamp(lastForwardedAtMs) }),
      ...(lastError && { last_error: { at: formatTimestamp(lastError.atMs), message: lastError.message } }),
      ...(nextAttemptAtMs !== undefined && { next_attempt_at: formatTimestamp(Math.round(nextAttemptAtMs)) }),
      /** The reason why the connector accepts no events at the moment. */
      ...(obstacle !== undefined && { intake_obstacle: obstacle }),
    }
  }
}
