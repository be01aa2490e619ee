import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { clientConfig } from '../../server/db/connection-settings.ts'
import type { OpenedDatabase } from '../../server/db/open-database.ts'
import { atEnd } from '../support/cleanup.ts'
import { createTwin } from './twin-table.ts'

/** Runs COPY by plain clients into a table like the partition that ingest writes to. */
export interface RawCopy {
  /** Copies rows that the service has stored, batch by batch in their stored order, with one commit each. */
  measure(batches: readonly (readonly string[])[], secondsMax: number): Promise<{ rows: number; seconds: number }>
}

export async function prepareRawCopy(
  database: OpenedDatabase,
  options: { tenantId: string; clients: number },
): Promise<RawCopy> {
  const clients = await Promise.all(
    Array.from({ length: options.clients }, async () => {
      const client = new pg.Client(clientConfig(database.connection.owner, 'hub-bench'))
      client.on('error', () => {})
      await client.connect()
      return client
    }),
  )
  atEnd(async () => {
    await Promise.all(clients.map((client) => client.end()))
  })
  const table = await createTwin(database, 'raw_copy')
  return {
    async measure(batches, secondsMax) {
      const chunks = await dump(database, options.tenantId, batches)
      let next = 0
      let rows = 0
      const began = performance.now()
      const work = async (client: pg.Client) => {
        while (next < chunks.length && performance.now() - began < secondsMax * 1000) {
          const chunk = chunks[next++]!
          const stream = client.query(copyFrom(`copy ${table} from stdin`))
          stream.end(chunk)
          await finished(stream)
          rows += stream.rowCount
        }
      }
      await Promise.all(clients.map(work))
      return { rows, seconds: (performance.now() - began) / 1000 }
    },
  }
}

/** Returns the rows of each batch, given by its ids, in the format of COPY. */
async function dump(
  database: OpenedDatabase,
  tenantId: string,
  batches: readonly (readonly string[])[],
): Promise<Buffer[]> {
  const tenant = pg.escapeLiteral(tenantId)
  return database.withTenant(tenantId, async (tx) => {
    const chunks: Buffer[] = []
    for (const ids of batches) {
      // COPY takes no parameters. Ids and tenant come from this run.
      const stream = tx.client.query(
        copyTo(`copy (select * from hub.records where tenant_id = ${tenant}
                      and record_id = any('{${ids.join(',')}}'::uuid[]) order by record_id) to stdout`),
      )
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      if (stream.rowCount !== ids.length) throw new Error(`of ${ids.length} records, ${stream.rowCount} are stored`)
      chunks.push(Buffer.concat(parts))
    }
    return chunks
  })
}
