import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { clientConfig } from '../server/db/connection-settings.ts'
import type { OpenedDatabase } from '../server/db/open-database.ts'
import { recordPartitionOf } from '../server/db/record-partitions.ts'

export interface RawCopy {
  rows: number
  seconds: number
}

/**
 * What PostgreSQL itself takes: `clients` connections COPY rows that the service has stored, 1,000 per COPY and one
 * commit each, into an empty table with the same columns and indexes.
 *
 * @param recordIds of the rows
 */
export async function measureRawCopy(
  database: OpenedDatabase,
  tenantId: string,
  recordIds: readonly string[],
  options: { clients: number; rowsPerCopy: number; secondsMax: number },
): Promise<RawCopy> {
  const chunks = await dump(database, tenantId, recordIds, options.rowsPerCopy)
  const table = 'bench_copy.records'
  const partition = recordPartitionOf(recordIds[0]!)
  const clients = await Promise.all(
    Array.from({ length: options.clients }, async () => {
      const client = new pg.Client(clientConfig(database.connection.owner, 'hub-bench'))
      await client.connect()
      return client
    }),
  )
  const [first] = clients
  try {
    await first!.query(`drop schema if exists bench_copy cascade; create schema bench_copy;
      create table ${table} (like hub.${partition} including all)`)
    let next = 0
    let rows = 0
    const began = performance.now()
    const work = async (client: pg.Client) => {
      while (next < chunks.length && performance.now() - began < options.secondsMax * 1000) {
        const chunk = chunks[next++]!
        const stream = client.query(copyFrom(`copy ${table} from stdin`))
        stream.end(chunk.data)
        await finished(stream)
        rows += chunk.rows
      }
    }
    await Promise.all(clients.map(work))
    return { rows, seconds: (performance.now() - began) / 1000 }
  } finally {
    await first!.query('drop schema if exists bench_copy cascade').catch(() => {})
    await Promise.all(clients.map((client) => client.end()))
  }
}

/** The rows as COPY reads them, in the order they were stored. */
async function dump(
  database: OpenedDatabase,
  tenantId: string,
  recordIds: readonly string[],
  rowsPerCopy: number,
): Promise<{ data: Buffer; rows: number }[]> {
  const chunks: { data: Buffer; rows: number }[] = []
  const sorted = [...recordIds].sort()
  for (let at = 0; at < sorted.length; at += rowsPerCopy) {
    const ids = sorted.slice(at, at + rowsPerCopy)
    const data = await database.withTenant(tenantId, async (tx) => {
      // COPY takes no parameters; both are ours, an id range and a tenant of this run.
      const range = `record_id >= '${ids[0]}' and record_id <= '${ids.at(-1)}'`
      const where = `tenant_id = ${pg.escapeLiteral(tenantId)} and record_type = 'telemetry_event' and ${range}`
      const stream = tx.client.query(copyTo(`copy (select * from hub.records where ${where}) to stdout`))
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      return Buffer.concat(parts)
    })
    chunks.push({ data, rows: ids.length })
  }
  return chunks
}
