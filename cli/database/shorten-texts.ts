import type pg from 'pg'
import { shortenText } from '../../server/records/short-text.ts'

export interface ShortenedTexts {
  /** Events whose texts this run shortened. */
  shortened: number
  /** Events that keep their text in full: it does not follow from the columns, is encrypted, or changed meanwhile. */
  kept: number
}

interface EventRow {
  tenant_id: string
  record_id: string
  created_by: string
  skill_id: string | null
  archetype_id: string | null
  user_id: string | null
  cost_micros: string | null
  trace_id: string | null
  session_id: string | null
  canonical: string
}

/** Rows of one transaction, which keeps them locked for some milliseconds. */
const rowsAtOnce = 1000

/**
 * Lets ingest store the texts of telemetry events in short form (ADR 0107), and replaces those that are stored in full. Runs beside a Hub, as
 * the owner, because the Hub has no right to change records. Each part is a transaction, so a run that was interrupted
 * is continued by the next. Shortening loses nothing: hashes, cosignatures and the log stay valid, and an edited text
 * stays as edited as it was.
 */
export async function shortenTexts(
  owner: pg.ClientBase,
  show: (progress: { step: string; done: number; total: number }) => void,
): Promise<ShortenedTexts> {
  await owner.query(`create or replace function hub.short_texts() returns boolean language sql stable as 'select true'`)
  const { rows: partitions } = await owner.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'hub.records'::regclass order by c.relname`,
  )
  const result: ShortenedTexts = { shortened: 0, kept: 0 }
  for (const [index, { name }] of partitions.entries()) {
    const step = () => `${name}: ${result.shortened.toLocaleString('en-US')} texts shortened`
    let after: EventRow | undefined
    do {
      const rows = await eventsInFull(owner, name, after)
      after = rows.length === rowsAtOnce ? rows.at(-1) : undefined
      const shortened = await shortenRows(owner, name, rows)
      result.shortened += shortened
      result.kept += rows.length - shortened
      show({ step: step(), done: index, total: partitions.length })
    } while (after !== undefined)
  }
  return result
}

/** Returns the next events, in the order of the primary key. A partition has no policy, so it has those of all tenants. */
async function eventsInFull(
  owner: pg.ClientBase,
  partition: string,
  after: Pick<EventRow, 'tenant_id' | 'record_id'> | undefined,
): Promise<EventRow[]> {
  const { rows } = await owner.query<EventRow>(
    `select tenant_id, record_id, created_by, skill_id, archetype_id, user_id, cost_micros::text as cost_micros,
       trace_id, session_id, canonical
     from hub.${partition}
     where record_type = 'telemetry_event' and canonical not like '~%' and (tenant_id, record_id) > ($1, $2::uuid)
     order by tenant_id, record_id limit ${rowsAtOnce}`,
    [after?.tenant_id ?? '', after?.record_id ?? '00000000-0000-0000-0000-000000000000'],
  )
  return rows
}

/** Returns the number of changed rows. A text that somebody changed since it was read is left alone. */
async function shortenRows(owner: pg.ClientBase, partition: string, rows: readonly EventRow[]): Promise<number> {
  const changes = rows.flatMap((row) => {
    const short = shortenText(row.canonical, {
      ...{ recordId: row.record_id, tenantId: row.tenant_id, createdBy: row.created_by, skillId: row.skill_id },
      ...{ archetypeId: row.archetype_id, userId: row.user_id, traceId: row.trace_id, sessionId: row.session_id },
      costMicros: row.cost_micros === null ? null : Number(row.cost_micros),
    })
    return short === undefined ? [] : [{ row, short }]
  })
  if (changes.length === 0) return 0
  const { rowCount } = await owner.query(
    `update hub.${partition} r set canonical = w.short
     from unnest($1::text[], $2::uuid[], $3::text[], $4::text[]) as w (tenant_id, record_id, canonical, short)
     where r.tenant_id = w.tenant_id and r.record_id = w.record_id and r.canonical = w.canonical`,
    [
      changes.map(({ row }) => row.tenant_id),
      changes.map(({ row }) => row.record_id),
      changes.map(({ row }) => row.canonical),
      changes.map(({ short }) => short),
    ],
  )
  return rowCount ?? 0
}
