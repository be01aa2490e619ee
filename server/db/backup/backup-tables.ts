import type pg from 'pg'

export interface BackupTable {
  /** The name without its schema, which is `hub`. */
  name: string
  columns: string[]
  /** Whether row-level security separates its tenants. */
  per_tenant: boolean
}

/**
 * Lists the tables that no backup contains. Migrations are applied again. The others hold credentials: one that has
 * ended or was used since the backup would be valid again. So everybody signs in again, and links are created again.
 * A backup contains waiting messages. Without them their receivers would never learn of the events. After a restore
 * most are sent a second time, with the same id, as "at least once" allows. By then leases on endpoints have expired.
 */
const leftOut = ['schema_migrations', 'sessions', 'refresh_families', 'spent_logins', 'magic_links']

/** Reads every table of the Hub with its columns. The order has no meaning, because no table refers to another. */
export async function findTables(owner: pg.ClientBase): Promise<BackupTable[]> {
  const { rows } = await owner.query<BackupTable>(
    `select c.relname::text as name, c.relrowsecurity as per_tenant,
       array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where n.nspname = 'hub' and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1)
     group by c.oid order by c.relname`,
    [leftOut],
  )
  return rows
}

/** Reads the names of the monthly partitions of records. */
export async function findRecordPartitions(owner: pg.ClientBase): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'hub.records'::regclass order by 1`,
  )
  return rows.map((row) => row.name)
}

/** Creates the missing partitions, as `hub.ensure_record_partitions` does for its months. */
export async function makeRecordPartitions(owner: pg.ClientBase, names: readonly string[]): Promise<void> {
  await owner.query('select hub.ensure_record_partitions(0)')
  const [model, ...others] = await findRecordPartitions(owner)
  if (model === undefined) throw new Error('no partition of records exists')
  const there = new Set([model, ...others])
  for (const name of names.filter((each) => !there.has(each))) {
    const [, year, month] = /^records_y(\d{4})m(\d{2})$/.exec(name) ?? []
    if (year === undefined || month === undefined) throw new Error(`${name} is not a partition of records`)
    const begin = `${year}-${month}-01T00:00:00Z`
    const end = new Date(Date.UTC(Number(year), Number(month), 1)).toISOString()
    const bounds = await owner.query<{ low: string; high: string }>(
      'select hub.first_record_id($1)::text as low, hub.first_record_id($2)::text as high',
      [begin, end],
    )
    const { low, high } = bounds.rows[0]!
    await owner.query(`create table hub.${name} (like hub.records including defaults including constraints)`)
    await owner.query(`alter table hub.records attach partition hub.${name} for values from ('${low}') to ('${high}')`)
    await owner.query(`grant insert on hub.${name} to hub_ingest`)
    for (const column of await columnsWithoutStatistics(owner, model)) {
      await owner.query(`alter table hub.${name} alter column ${columnList([column])} set statistics 0`)
    }
  }
}

/** Reads the columns for which ANALYZE keeps no statistics, so that no value outlives its row. */
async function columnsWithoutStatistics(owner: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = format('hub.%I', $1::text)::regclass and attnum > 0 and attstattarget = 0`,
    [table],
  )
  return rows.map((row) => row.name)
}

export function columnList(columns: readonly string[]): string {
  return columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ')
}
