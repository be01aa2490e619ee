import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'

/**
 * Returns a query builder whose every statement runs on this client, and so inside its transaction. Kysely's own
 * transactions are not used, because they do not set the tenant.
 */
export function kyselyOn<Tables>(client: pg.ClientBase): Kysely<Tables> {
  const borrowed = {
    query: client.query.bind(client),
    release() {},
  }
  const pool = { connect: async () => borrowed, end: async () => {}, options: {} }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) })
}
