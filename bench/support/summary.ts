import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { clientConfig } from '../../server/db/connection-settings.ts'
import type { OpenedDatabase } from '../../server/db/open-database.ts'
import { AcknowledgedIds } from './acknowledged-ids.ts'
import type { BenchHub, BenchTenant } from './bench-hub.ts'
import type { StoreCheck } from './figure.ts'
import { logProgress } from './progress.ts'

const quarterHourMs = 15 * 60_000

/** Returns the last days up to the end of the current quarter of an hour: summaries end at quarters. */
export function lastDays(days: number): { from: string; to: string } {
  const toMs = Math.ceil(Date.now() / quarterHourMs) * quarterHourMs
  const text = (ms: number) => new Date(ms).toISOString()
  return { from: text(toMs - days * 86_400_000), to: text(toMs) }
}

interface Summary {
  rows: { key?: string; invocations: number }[]
  totals: { invocations: number }
  next_cursor: string | null
}

export function summaryPath(query: Record<string, string>): string {
  return `/api/v1/telemetry/summary?${new URLSearchParams(query)}`
}

export async function readSummary(hub: BenchHub, tenant: BenchTenant, query: Record<string, string>): Promise<Summary> {
  const response = await fetch(`${hub.url}${summaryPath(query)}`, { headers: await tenant.headers() })
  if (!response.ok) throw new Error(`no summary: ${response.status} ${await response.text()}`)
  return (await response.json()) as Summary
}

/**
 * Looks up each acknowledged record in the store, and compares the summary's totals with the store. An aborted request
 * may have stored its event: the store can hold more than was acknowledged, never less.
 */
export async function checkEvents(
  hub: BenchHub,
  tenant: BenchTenant,
  acknowledged = new AcknowledgedIds(),
): Promise<StoreCheck> {
  logProgress(`looking for each of the ${acknowledged.count} acknowledged records`)
  const { missing, storedEvents } = await checkStored(hub.database, tenant.slug, acknowledged)
  const { totals } = await readSummary(hub, tenant, { ...lastDays(40), group_by: 'skill' })
  return {
    acknowledged: acknowledged.count,
    missing,
    stored_events: storedEvents,
    summary_invocations: totals.invocations,
  }
}

const idBytes = 16
/** Head and tail of COPY's binary format: signature, flags, no extension; a row count of -1 at the end. */
const copyHead = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const copyTail = Buffer.from([0xff, 0xff])

/**
 * Returns the number of acknowledged records that the store lacks, and the number of stored events. Copies the ids into
 * a temporary table and joins it, which takes a few seconds for millions.
 */
async function checkStored(
  database: OpenedDatabase,
  tenantId: string,
  acknowledged: AcknowledgedIds,
): Promise<{ missing: number; storedEvents: number }> {
  const client = new pg.Client(clientConfig(database.connection.owner, 'hub-bench'))
  await client.connect()
  try {
    await client.query(`set work_mem = '256MB'; create temporary table acknowledged (record_id uuid not null)`)
    await pipeline(
      Readable.from(copyRows(acknowledged)),
      client.query(copyFrom('copy acknowledged from stdin (format binary)')),
    )
    // Partitions are read as a whole, so the planner must know that there are many ids.
    await client.query('analyze acknowledged')
    await client.query('begin')
    await client.query('select hub.set_tenant($1)', [tenantId])
    const { rows } = await client.query<{ missing: number; stored: number }>(
      `select (select count(*) from acknowledged a where not exists (
                 select from hub.records r where r.tenant_id = $1 and r.record_id = a.record_id))::int as missing,
              (select count(*) from hub.records
                where tenant_id = $1 and record_type = 'telemetry_event')::int as stored`,
      [tenantId],
    )
    await client.query('rollback')
    return { missing: rows[0]!.missing, storedEvents: rows[0]!.stored }
  } finally {
    await client.end()
  }
}

/** Yields rows of one column: field count, length, value. */
function* copyRows(acknowledged: AcknowledgedIds): Generator<Buffer> {
  yield copyHead
  for (const ids of acknowledged.buffers()) {
    const count = ids.length / idBytes
    const rows = Buffer.alloc(count * (6 + idBytes))
    for (let at = 0, to = 0; at < count; at++, to += 6 + idBytes) {
      rows.writeUInt16BE(1, to)
      rows.writeUInt32BE(idBytes, to + 2)
      ids.copy(rows, to + 6, at * idBytes, (at + 1) * idBytes)
    }
    yield rows
  }
  yield copyTail
}
