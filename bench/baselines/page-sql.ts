// A bare Fastify that sends the service's own statements for a page of records through `pg`, and returns the stored
// texts: no token, tenant, limit, validation, cosignature or cursor.
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import pg from 'pg'
import { type ConnectionTarget, clientConfig } from '../../server/db/connection-settings.ts'
import type { TenantTx } from '../../server/db/database.ts'
import { noContents } from '../../server/db/record-encryption.ts'
import { readText } from '../../server/records/stored-text.ts'
import { announce } from './announce.ts'
import type { Sequence } from './statements.ts'

type Rows = readonly (Record<string, unknown> | unknown[])[]

const { connection, pages } = JSON.parse(await text(process.stdin)) as {
  connection: ConnectionTarget
  pages: Record<string, Sequence>
}
const pool = new pg.Pool({ ...clientConfig(connection, 'hub-bench'), max: 20 })
pool.on('error', () => {})

async function run(sequence: Sequence): Promise<string> {
  const client = await pool.connect()
  try {
    let texts: string[] | undefined
    for (const group of sequence) {
      const results = await Promise.all(group.map(({ session, withPrevious, ...query }) => client.query(query)))
      for (const result of results) texts ??= textsOf(result)
    }
    if (texts === undefined) throw new Error('no statement reads the text of records')
    return `{"records":[${texts.join(',')}]}`
  } finally {
    client.release()
  }
}

/** The tenants of benchmarks are not in Mode B. */
const clear = { contents: noContents } as TenantTx

/** A query with several statements has several results. */
function textsOf(result: pg.QueryResult | pg.QueryResult[]): string[] | undefined {
  for (const one of [result].flat()) {
    const place = one.fields.findIndex(({ name }) => name === 'canonical')
    if (place < 0) continue
    const rows = one.rows as Rows
    return rows.map((row) => readText(clear, '', (Array.isArray(row) ? row[place] : row.canonical) as string))
  }
  return undefined
}

const app = Fastify()
app.get<{ Params: { name: string } }>('/pages/:name', async (request, reply) => {
  reply.type('application/json; charset=utf-8')
  return run(pages[request.params.name]!)
})
await announce(app)
