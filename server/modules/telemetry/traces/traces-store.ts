import type { TenantTx } from '../../../db/database.ts'
import { readText, storedText } from '../../../records/stored-text.ts'

/** An event of a trace or session. */
export interface TracedRecord {
  recordId: string
  /** Null for a purged event. */
  canonical: string | null
  rated: boolean
  /** The result of a repricing: null without a price. */
  ratedMicros: number | null
}

const readColumns = `r.record_id, case when s.purged_at is null then ${storedText('r')} end as canonical,
        t.rated, t.cost_computed_micros`
const lookUps = `
      left join lateral (
        select purged_at from hub.record_states where tenant_id = $1 and record_id = r.record_id offset 0) s on true
      left join lateral (
        select true as rated, cost_computed_micros from hub.telemetry_ratings
        where tenant_id = $1 and record_id = r.record_id offset 0) t on true`

interface ReadRow {
  record_id: string
  canonical: string | null
  rated: boolean | null
  cost_computed_micros: number | null
}

function tracedRecord(tx: TenantTx, row: ReadRow): TracedRecord {
  return {
    recordId: row.record_id,
    canonical: row.canonical && readText(tx, row.record_id, row.canonical),
    rated: row.rated === true,
    ratedMicros: row.cost_computed_micros,
  }
}

/**
 * Returns events of a trace or session in the order of storage, up to the limit, in a transaction of `inIndexOrder`.
 * The order names the column, because that is the order of the required index.
 */
export async function eventsOf(
  tx: TenantTx,
  { column, id }: { column: 'trace_id' | 'session_id'; id: string },
  afterId: string | undefined,
  limit: number,
): Promise<TracedRecord[]> {
  const beyond = afterId === undefined ? `${column} >= $2` : `(${column}, record_id) > ($2, $4::uuid)`
  const { rows } = await tx.client.query<ReadRow>(
    `select ${readColumns}
      from (
        select * from hub.records
        where tenant_id = $1 and ${column} is not null and ${column} <= $2 and ${beyond}
          and record_type = 'telemetry_event' ${afterId === undefined ? '' : 'and record_id > $4::uuid'}
        order by ${column}, record_id limit $3
      ) r ${lookUps}
      order by r.${column}, r.record_id`,
    [tx.tenantId, id, limit, ...(afterId === undefined ? [] : [afterId])],
  )
  return rows.map((row) => tracedRecord(tx, row))
}

/** Selects events for the list of sessions: an index and its value, and bounds of ids. */
export interface SessionScan {
  column: 'record_type' | 'skill_id' | 'archetype_id' | 'user_id'
  value: string
  /** Further filters, applied to the events of the index. */
  filters: readonly (readonly ['skill_id' | 'archetype_id' | 'user_id', string])[]
  fromId: string | undefined
  beforeId: string | undefined
}

/**
 * Returns the sessions of events, newest event first, up to the limit. A null stands for an event that belongs to no
 * session or does not match.
 */
export async function scanSessions(
  tx: TenantTx,
  { column, value, filters, fromId, beforeId }: SessionScan,
  limit: number,
): Promise<{ recordId: string; sessionId: string | null }[]> {
  const values: unknown[] = [tx.tenantId, value, limit]
  const parameter = (one: unknown) => `$${values.push(one)}`
  const conditions = [`${column} is not null`, `${column} >= $2`, `${column} <= $2`]
  if (fromId !== undefined) {
    const id = `${parameter(fromId)}::uuid`
    conditions.push(`record_id >= ${id}`, `(${column}, record_id) >= ($2, ${id})`)
  }
  if (beforeId !== undefined) {
    const id = `${parameter(beforeId)}::uuid`
    conditions.push(`record_id < ${id}`, `(${column}, record_id) < ($2, ${id})`)
  }
  const isMatch = ["r.record_type = 'telemetry_event'"]
  for (const [name, wanted] of filters) isMatch.push(`r.${name} = ${parameter(wanted)}`)
  const { rows } = await tx.client.query<{ record_id: string; session_id: string | null }>(
    `select r.record_id, case when ${isMatch.join(' and ')} then r.session_id end as session_id
      from (
        select record_id, record_type, skill_id, archetype_id, user_id, session_id from hub.records
        where tenant_id = $1 and ${conditions.join(' and ')}
        order by ${column} desc, record_id desc limit $3
      ) r`,
    values,
  )
  return rows.map((row) => ({ recordId: row.record_id, sessionId: row.session_id }))
}

/** The events of a session that {@link sessionsSeen} looks at, newest first. */
const seenAmong = 1000

/** Returns those sessions that have a matching event from the id on, before the end of the list's range. */
export async function sessionsSeen(
  tx: TenantTx,
  sessionIds: readonly string[],
  { column, value, filters, beforeId }: SessionScan,
  atId: string,
): Promise<Set<string>> {
  const values: unknown[] = [tx.tenantId, sessionIds, atId, beforeId ?? null]
  const conditions = [[column, value] as const, ...filters].map(
    ([name, wanted]) => `e.${name} = $${values.push(wanted)}`,
  )
  const { rows } = await tx.client.query<{ session_id: string }>(
    `select w.session_id from unnest($2::text[]) as w (session_id)
      where exists (
        select from (
          select record_type, skill_id, archetype_id, user_id from hub.records
          where tenant_id = $1 and session_id is not null and session_id = w.session_id and record_id >= $3::uuid
            and ($4::uuid is null or record_id < $4::uuid)
          order by session_id, record_id limit ${seenAmong}
        ) e where ${conditions.join(' and ')}
      )`,
    values,
  )
  return new Set(rows.map((row) => row.session_id))
}

/** Returns the newest events of each session, at most `most` of each. */
export async function newestEvents(
  tx: TenantTx,
  sessionIds: readonly string[],
  beforeId: string | undefined,
  most: number,
): Promise<Map<string, TracedRecord[]>> {
  const { rows } = await tx.client.query<ReadRow & { wanted: string }>(
    `select w.session_id as wanted, ${readColumns}
      from unnest($2::text[]) as w (session_id)
      cross join lateral (
        select * from hub.records
        where tenant_id = $1 and session_id is not null and session_id = w.session_id
          and record_type = 'telemetry_event' and ($4::uuid is null or record_id < $4::uuid)
        order by session_id desc, record_id desc limit $3
      ) r ${lookUps}`,
    [tx.tenantId, sessionIds, most, beforeId ?? null],
  )
  const found = new Map<string, TracedRecord[]>()
  for (const { wanted, ...row } of rows) found.getOrInsertComputed(wanted, () => []).push(tracedRecord(tx, row))
  return found
}
