import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'

/**
 * A query builder whose every statement runs on this one client, so inside the transaction the client is in.
 * Kysely's own transactions are not used: they know nothing of tenants.
 */
export function kyselyOn<Tables>(client: pg.ClientBase): Kysely<Tables> {
  const borrowed = {
    query: client.query.bind(client),
    release() {},
  }
  const pool = { connect: async () => borrowed, end: async () => {}, options: {} }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) })
}
