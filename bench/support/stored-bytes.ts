import pg from 'pg'
import { clientConfig } from '../../server/db/connection-settings.ts'
import { embeddedTargets } from '../../server/embedded-postgres/superuser.ts'
import type { BenchHub } from './bench-hub.ts'
import { atEnd } from './cleanup.ts'

/** A table, or one index of a table. Partitions count as their parent. */
export interface Relation {
  table: string
  /** Absent for the table itself, with its TOAST table. */
  index: string | undefined
}

export interface DiskUse extends Relation {
  bytes: number
  /** Share of its leaf pages that a B-tree fills, in percent. */
  filledPercent: number | undefined
}

export interface WalUse extends Relation {
  bytes: number
  /** Bytes of full-page images among them. */
  imageBytes: number
}

export interface WalSpan {
  bytes: number
  imageBytes: number
  /** Bytes of full-page images that only hint bits caused. */
  hintBytes: number
  byRelation: WalUse[]
}

/** Opens a session of the superuser: `pg_walinspect` and `pgstattuple` need one. */
export async function openInspection(hub: BenchHub): Promise<pg.Client> {
  const { owner } = hub.database.connection
  const { superuser } = embeddedTargets(hub.database.masterKey, owner.host!, owner.port)
  const client = new pg.Client(clientConfig({ ...superuser, database: owner.database }, 'hub-bench'))
  client.on('error', () => {})
  await client.connect()
  atEnd(() => client.end())
  await client.query(`create extension if not exists pg_walinspect; create extension if not exists pgstattuple;
    set work_mem = '256MB'`)
  return client
}

/** Every table and index of the Hub, with the parent's names for partitions and their indexes. */
const relations = `
  select c.oid, pg_relation_filenode(c.oid) as filenode,
    c.relam = (select oid from pg_am where amname = 'btree') as is_btree, coalesce(top.relname, own.relname, c.relname) as "table",
    case when c.relkind = 'i' and toast.oid is null then coalesce(above.relname, c.relname) end as index
  from pg_class c
  left join pg_index i on i.indexrelid = c.oid
  -- The table that a TOAST table, or an index of one, belongs to.
  left join pg_class toast on toast.reltoastrelid = coalesce(i.indrelid, c.oid)
  left join pg_class own on own.oid = coalesce(toast.oid, i.indrelid)
  left join pg_inherits of_table on of_table.inhrelid = coalesce(toast.oid, i.indrelid, c.oid)
  left join pg_class top on top.oid = of_table.inhparent
  left join pg_inherits of_index on of_index.inhrelid = c.oid and c.relkind = 'i'
  left join pg_class above on above.oid = of_index.inhparent
  where c.relkind in ('r', 'i', 't')
    and coalesce(own.relnamespace, c.relnamespace) = 'hub'::regnamespace`

/** Returns the disk space of every table and index, the largest first. */
export async function diskUse(client: pg.Client): Promise<DiskUse[]> {
  const { rows } = await client.query<{ table: string; index: string | null; bytes: string; filled: number | null }>(
    `with relation as (${relations}), sized as (
       select *, pg_relation_size(oid, 'main') + pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm') as bytes
       from relation), filled as (
       -- CASE, because other access methods have no such statistics.
       select *, case when index is not null and bytes > 8192 and is_btree
         then (pgstatindex(oid)).avg_leaf_density end as density
       from sized)
     select "table", index, sum(bytes)::bigint as bytes,
       sum(bytes * density) / nullif(sum(bytes) filter (where density is not null), 0) as filled
     from filled
     group by 1, 2 order by 3 desc`,
  )
  return rows.map((row) => ({
    table: row.table,
    index: row.index ?? undefined,
    bytes: Number(row.bytes),
    filledPercent: row.filled ?? undefined,
  }))
}

/** Returns the position in the WAL up to which all is written. */
export async function walPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn')
  return rows[0]!.lsn
}

/**
 * Returns the WAL between two positions by table and index. The bytes of a record belong to the relation of its first
 * block. Commits and page headers belong to no relation, and only the sum contains them.
 */
export async function walUse(client: pg.Client, from: string, to: string): Promise<WalSpan> {
  const { rows } = await client.query<{
    table: string | null
    index: string | null
    bytes: string
    images: string
    hints: string
    total: string
  }>(
    `with relation as (${relations}), used as (
       select relfilenode, sum(record_length) filter (where block_id = 0) as bytes, sum(block_fpi_length) as images,
         sum(block_fpi_length) filter (where record_type = 'FPI_FOR_HINT') as hints
       from pg_get_wal_block_info($1::pg_lsn, $2::pg_lsn, false) group by 1)
     select "table", index, coalesce(sum(bytes), 0)::bigint as bytes, coalesce(sum(images), 0)::bigint as images,
       coalesce(sum(hints), 0)::bigint as hints, ($2::pg_lsn - $1::pg_lsn)::bigint as total
     from used left join relation on filenode = relfilenode group by 1, 2 order by 3 desc`,
    [from, to],
  )
  const sum = (pick: (row: (typeof rows)[number]) => string) => rows.reduce((all, row) => all + Number(pick(row)), 0)
  return {
    bytes: Number(rows[0]?.total ?? 0),
    imageBytes: sum(({ images }) => images),
    hintBytes: sum(({ hints }) => hints),
    byRelation: rows.map((row) => ({
      table: row.table ?? 'system catalogue',
      index: row.index ?? undefined,
      bytes: Number(row.bytes),
      imageBytes: Number(row.images),
    })),
  }
}
