import type pg from 'pg'
import { programBreaches } from './program-breaches.ts'
import { type Breach, schemaBreaches, withTenantTables } from './schema-rules.ts'

export interface DistributionStatus {
  /** Whether any tenant table is distributed. */
  readonly distributed: boolean
  /** The version of the Citus extension in the database; null if it has none. */
  readonly citus: string | null
  readonly postgresql: string
  /** Bytes on disk of the database, indexes included, on the server that answers. */
  readonly database_bytes: number
  readonly tenant_tables: number
  readonly distributed_tables: number
  readonly largest: readonly { table: string; bytes: number }[]
  /** The nodes of the cluster that have data, with the size of their shards. Empty on one server. */
  readonly nodes: readonly { node: string; bytes: number; shards: number }[]
  /** Breaches of the rules of docs/distribution.md: in the database, and in the code of this version. */
  readonly breaches: readonly (Breach & { readonly found_in: 'database' | 'program' })[]
}

const largestMax = 5

/** Partitions and search documents count for their parents. */
const sizes = `
  select 'hub.' || c.relname as table, (
    select sum(pg_total_relation_size(t.relid))::bigint from pg_partition_tree(c.oid) t
  ) as bytes
  from pg_class c
  where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by bytes desc, 1 limit $1`

/**
 * Reads what is distributed and what breaks a rule. Changes nothing.
 *
 * @param client a connection of the owner, to a database with the Hub's schema
 */
export async function readDistribution(client: pg.ClientBase): Promise<DistributionStatus> {
  const { rows } = await client.query<{ citus: string | null; postgresql: string; bytes: number; tables: number }>(
    `${withTenantTables}
     select (select extversion from pg_extension where extname = 'citus') as citus,
       current_setting('server_version') as postgresql, pg_database_size(current_database()) as bytes,
       (select count(*) from tenant_table)::int as tables`,
  )
  const { citus, postgresql, bytes, tables } = rows[0]!
  const largest = await client.query<{ table: string; bytes: number }>(sizes, [largestMax])
  const spread = citus === null ? { tables: 0, nodes: [] } : await readNodes(client)
  const inDatabase = (await schemaBreaches(client)).map((breach) => ({ ...breach, found_in: 'database' as const }))
  return {
    distributed: spread.tables > 0,
    citus,
    postgresql,
    database_bytes: bytes,
    tenant_tables: tables,
    distributed_tables: spread.tables,
    largest: largest.rows,
    nodes: spread.nodes,
    breaches: [...inDatabase, ...programBreaches.map((breach) => ({ ...breach, found_in: 'program' as const }))],
  }
}

async function readNodes(client: pg.ClientBase) {
  const { rows } = await client.query<{ tables: number }>(
    `${withTenantTables}
     select count(*)::int as tables from pg_dist_partition d join tenant_table t on t.oid = d.logicalrelid
     where d.partmethod = 'h'`,
  )
  const { rows: nodes } = await client.query<{ node: string; bytes: number; shards: number }>(
    `select nodename || ':' || nodeport as node, sum(shard_size)::bigint as bytes, count(*)::int as shards
     from citus_shards group by 1 order by 1`,
  )
  return { tables: rows[0]?.tables ?? 0, nodes }
}
