import type pg from 'pg'
import { restoreText, separator, shortenText } from '../../server/records/short-text.ts'
import { StartupError } from '../../server/startup-error.ts'

export interface ShortenedTexts {
  /** Events whose texts this run shortened. */
  shortened: number
  /** Events that keep their text in full: it does not follow from the columns, or changed meanwhile. */
  kept: number
}

interface EventRow {
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
 * Lets ingest store the texts of telemetry events in short form (ADR 0107), and replaces those that are stored in full.
 * Runs beside a Hub, as the owner, because the Hub has no right to change records. Each part is a transaction, so a run
 * that was interrupted is continued by the next. A text is replaced only if its short form restores it byte for byte:
 * hashes, cosignatures and the log stay valid, and an edited text stays as edited as it was. Events of Mode B, whose keys
 * the command does not have, stay in full.
 *
 * @throws StartupError if the schema is older than the short form
 */
export async function shortenTexts(
  owner: pg.ClientBase,
  show: (progress: { step: string; done: number; total: number }) => void,
): Promise<ShortenedTexts> {
  await beginShortTexts(owner)
  const partitions = await namesOf(
    owner,
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'hub.records'::regclass order by c.relname`,
  )
  const tenants = await namesOf(owner, 'select slug as name from hub.tenants order by slug')
  const result: ShortenedTexts = { shortened: 0, kept: 0 }
  for (const [index, partition] of partitions.entries()) {
    for (const tenant of tenants) {
      let after: string | undefined
      do {
        const rows = await eventsInFull(owner, partition, tenant, after)
        after = rows.length === rowsAtOnce ? rows.at(-1)?.record_id : undefined
        const shortened = await shortenRows(owner, partition, tenant, rows)
        result.shortened += shortened
        result.kept += rows.length - shortened
        const step = `${partition}: ${result.shortened.toLocaleString('en-US')} texts shortened`
        show({ step, done: index, total: partitions.length })
      } while (after !== undefined)
    }
  }
  return result
}

/** Otherwise a Hub that runs could not read the texts, and the migration would fail. */
async function beginShortTexts(owner: pg.ClientBase): Promise<void> {
  const { rows } = await owner.query<{ found: boolean }>(`select to_regproc('hub.short_texts') is not null as found`)
  if (rows[0]?.found !== true) {
    throw new StartupError('The schema of the database is older than the short form.', 'Run: hub migrate')
  }
  await owner.query(`create or replace function hub.short_texts() returns boolean language sql stable as 'select true'`)
}

async function namesOf(owner: pg.ClientBase, text: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(text)
  return rows.map(({ name }) => name)
}

/** Returns the next events of a tenant, in the order of the primary key. A partition has no policy. */
async function eventsInFull(
  owner: pg.ClientBase,
  partition: string,
  tenant: string,
  after: string | undefined,
): Promise<EventRow[]> {
  const { rows } = await owner.query<EventRow>(
    `select record_id, created_by, skill_id, archetype_id, user_id, cost_micros::text as cost_micros, trace_id, session_id,
       canonical
     from hub.${partition}
     where tenant_id = $1 and record_type = 'telemetry_event' and starts_with(canonical, '{') and record_id > $2::uuid
     order by record_id limit ${rowsAtOnce}`,
    [tenant, after ?? '00000000-0000-0000-0000-000000000000'],
  )
  return rows
}

/** Returns the number of changed rows. A text that somebody changed since it was read is left alone. */
async function shortenRows(
  owner: pg.ClientBase,
  partition: string,
  tenant: string,
  rows: readonly EventRow[],
): Promise<number> {
  const changes = rows.flatMap((row) => {
    const columns = {
      ...{ recordId: row.record_id, tenantId: tenant, createdBy: row.created_by, skillId: row.skill_id },
      ...{ archetypeId: row.archetype_id, userId: row.user_id, traceId: row.trace_id, sessionId: row.session_id },
      costMicros: row.cost_micros === null ? null : Number(row.cost_micros),
    }
    const short = shortenText(row.canonical, columns)
    // An edited text may resemble that of an event.
    const isRestored = short !== undefined && restoreText(short.split(separator), columns) === row.canonical
    return isRestored ? [{ row, short }] : []
  })
  if (changes.length === 0) return 0
  const { rowCount } = await owner.query(
    `update hub.${partition} r set canonical = w.short
     from unnest($2::uuid[], $3::text[], $4::text[]) as w (record_id, canonical, short)
     where r.tenant_id = $1 and r.record_id = w.record_id and r.canonical = w.canonical`,
    [
      tenant,
      changes.map(({ row }) => row.record_id),
      changes.map(({ row }) => row.canonical),
      changes.map(({ short }) => short),
    ],
  )
  return rowCount ?? 0
}
