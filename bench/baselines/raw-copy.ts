import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { clientConfig } from '../../server/db/connection-settings.ts'
import type { OpenedDatabase } from '../../server/db/open-database.ts'
import { readText, storedText } from '../../server/records/stored-text.ts'
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

/** Returns the rows of each batch, given by its ids, in the format of COPY, with the whole canonical texts. */
async function dump(
  database: OpenedDatabase,
  tenantId: string,
  batches: readonly (readonly string[])[],
): Promise<Buffer[]> {
  const tenant = pg.escapeLiteral(tenantId)
  return database.withTenant(tenantId, async (tx) => {
    const { fields } = await tx.client.query('select * from hub.records where tenant_id = $1 limit 0', [tenantId])
    const columnNames = fields.map(({ name }) => name)
    const place = columnNames.indexOf('canonical')
    const chunks: Buffer[] = []
    for (const ids of batches) {
      // COPY takes no parameters. Ids and tenant come from this run.
      const columns = columnNames.map((name) =>
        name === 'canonical' ? `${storedText('r')} as canonical` : `r.${name}`,
      )
      const stream = tx.client.query(
        copyTo(`copy (select ${columns.join(', ')} from hub.records r where tenant_id = ${tenant}
                      and record_id = any('{${ids.join(',')}}'::uuid[]) order by record_id) to stdout`),
      )
      const lines = (await text(stream)).split('\n').slice(0, -1)
      if (lines.length !== ids.length) throw new Error(`of ${ids.length} records, ${lines.length} are stored`)
      const whole = lines.map((line) => {
        const fields = line.split('\t')
        const stored = fields[place]!.replaceAll('\\t', '\t').replaceAll('\\\\', '\\')
        fields[place] = readText(tx, '', stored).replaceAll('\\', '\\\\')
        return `${fields.join('\t')}\n`
      })
      chunks.push(Buffer.from(whole.join('')))
    }
    return chunks
  })
}
