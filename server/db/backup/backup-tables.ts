import type pg from 'pg'

export interface BackupTable {
  /** Without its schema, which is `hub`. */
  name: string
  columns: string[]
  /** Under row-level security, by tenant. */
  per_tenant: boolean
}

/**
 * What no backup has. Migrations are made anew. The rest lets people in: what was ended or used up since a backup would
 * be valid again, so everybody signs in once more, and links are made anew.
 *
 * Messages that wait for their receivers are in it: lost, nobody would ever hear of what they tell; restored, most are sent
 * a second time, with the same id, as "at least once" allows. Leases on endpoints have run out by then.
 */
const leftOut = ['schema_migrations', 'sessions', 'refresh_families', 'spent_logins', 'magic_links']

/** Every table of the Hub with its columns, in an order of no meaning: no table refers to another. */
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

/** Names of the monthly partitions of records. */
export async function findRecordPartitions(owner: pg.ClientBase): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'hub.records'::regclass order by 1`,
  )
  return rows.map((row) => row.name)
}

/** Makes those that are missing, as `hub.ensure_record_partitions` makes those of its months. */
export async function makeRecordPartitions(owner: pg.ClientBase, names: readonly string[]): Promise<void> {
  await owner.query('select hub.ensure_record_partitions(0)')
  const [model, ...others] = await findRecordPartitions(owner)
  if (model === undefined) throw new Error('there is no partition of records')
  const there = new Set([model, ...others])
  for (const name of names.filter((each) => !there.has(each))) {
    const [, year, month] = /^records_y(\d{4})m(\d{2})$/.exec(name) ?? []
    if (year === undefined || month === undefined) throw new Error(`${name} is no partition of records`)
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

/** Of whose values ANALYZE keeps none, so that none outlives its row. */
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
