import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import { clientConfig } from '../../server/db/connection-settings.ts'
import type { OpenedDatabase } from '../../server/db/open-database.ts'
import { recordPartitionOf } from '../../server/modules/records/record-copy.ts'

/** Columns that a service without seals leaves empty. */
const sealColumns = ['seal_id', 'leaf_index', 'salt', 'provenance_hash']

/**
 * Creates an empty table with the columns and indexes of the partition that ingest writes to now, without a policy.
 *
 * @returns its name with its schema
 */
export async function createTwin(database: OpenedDatabase, name: string): Promise<string> {
  const owner = new pg.Client(clientConfig(database.connection.owner, 'hub-bench'))
  await owner.connect()
  try {
    const table = `bench.${pg.escapeIdentifier(name)}`
    await owner.query(`create schema if not exists bench;
      drop table if exists ${table};
      create table ${table} (like hub.${recordPartitionOf(randomUUIDv7())} including all);
      alter table ${table} ${sealColumns.map((column) => `alter column ${column} drop not null`).join(', ')}`)
    return table
  } finally {
    await owner.end()
  }
}
