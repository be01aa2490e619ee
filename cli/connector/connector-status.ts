import type { DatabaseSync } from 'node:sqlite'
import { formatTimestamp } from '../../contract/timestamp.ts'
import type { Forwarder } from './forwarder.ts'
import { usedBytes } from './spool-intake.ts'

/** Metrics of a spool, valid whether or not a connector runs. */
export interface SpoolFigures {
  tenant: string
  hub_url: string
  /** Number of waiting events, including those in flight, excluding those set aside. */
  pending: number
  /** Age in seconds of the oldest waiting event; absent if none waits. */
  oldest_pending_seconds?: number
  uncertain: { batches: number; events: number }
  /** Number of events that the Hub refused and that are kept here. */
  refused: number
  /** Totals since the spool was created. */
  totals: { accepted: number; forwarded: number; refused: number; dropped: number }
  used_bytes: number
}

/** The response of GET /status. */
export interface ConnectorStatus extends SpoolFigures {
  activity: string
  limit_bytes: number
  started_at: string
  last_forwarded_at?: string
  last_error?: { at: string; message: string }
  next_attempt_at?: string
  /** The reason why the connector accepts no events at the moment. */
  intake_obstacle?: string
}

/** Reads all metrics at one point in time. */
export function readSpoolFigures(database: DatabaseSync, nowMs = Date.now()): SpoolFigures {
  const one = (sql: string) => database.prepare(sql).get() ?? {}
  const binding = new Map(
    database
      .prepare('select name, value from binding')
      .all()
      .map(({ name, value }) => [name, String(value)]),
  )
  const totals = new Map(
    database
      .prepare('select name, value from counters')
      .all()
      .map(({ name, value }) => [name, Number(value)]),
  )
  const uncertain = one(`select count(distinct b.id) as batches, count(e.sequence) as events
    from batches b join events e on e.batch_id = b.id where b.uncertain_because is not null`)
  const all = one('select count(*) as n from events')
  const oldest = one(`select accepted_ms from events
    where batch_id is null or batch_id not in (select id from batches where uncertain_because is not null)
    order by sequence limit 1`)
  return {
    tenant: binding.get('tenant') ?? '',
    hub_url: binding.get('hub_url') ?? '',
    pending: Number(all.n) - Number(uncertain.events),
    ...(oldest.accepted_ms === undefined
      ? {}
      : { oldest_pending_seconds: Math.max(0, Math.round((nowMs - Number(oldest.accepted_ms)) / 1000)) }),
    uncertain: { batches: Number(uncertain.batches), events: Number(uncertain.events) },
    refused: Number(one('select count(*) as n from refused').n),
    totals: {
      accepted: totals.get('accepted') ?? 0,
      forwarded: totals.get('forwarded') ?? 0,
      refused: totals.get('refused') ?? 0,
      dropped: totals.get('dropped') ?? 0,
    },
    used_bytes: usedBytes(database),
  }
}

export function connectorStatus(deps: {
  database: DatabaseSync
  bytesMax: number
  obstacle: () => string | undefined
  forwarder: () => Forwarder
  startedAtMs: number
}): () => ConnectorStatus {
  return () => {
    const { activity, lastForwardedAtMs, lastError, nextAttemptAtMs } = deps.forwarder().state
    const obstacle = deps.obstacle()
    return {
      activity,
      ...readSpoolFigures(deps.database),
      limit_bytes: deps.bytesMax,
      started_at: formatTimestamp(deps.startedAtMs),
      ...(lastForwardedAtMs === undefined ? {} : { last_forwarded_at: formatTimestamp(lastForwardedAtMs) }),
      ...(lastError === undefined
        ? {}
        : { last_error: { at: formatTimestamp(lastError.atMs), message: lastError.message } }),
      ...(nextAttemptAtMs === undefined ? {} : { next_attempt_at: formatTimestamp(Math.round(nextAttemptAtMs)) }),
      ...(obstacle === undefined ? {} : { intake_obstacle: obstacle }),
    }
  }
}
