import { migrationsDirectory, readMigrations } from '../../../server/db/migrate.ts'
import { partitionMonthsAhead } from '../../../server/db/record-partitions.ts'
import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const check = 'migrations'
const runMigrate = 'Run: hub migrate (a start does it, too).'

/** Returns whether the database has the Hub's schema. */
export function hasSchema(database: ExaminedDatabase): Promise<boolean> {
  return database.read(async (client) => {
    const { rows } = await client.query<{ found: boolean }>(
      `select to_regclass('hub.schema_migrations') is not null as found`,
    )
    return rows[0]?.found === true
  })
}

/** Compares the applied migrations with those of this program. */
export async function checkMigrations(database: ExaminedDatabase): Promise<Finding> {
  const known = await readMigrations(migrationsDirectory)
  const { rows: applied } = await database.read((client) =>
    client.query<{ version: number; name: string; checksum: string }>(
      'select version, name, checksum from hub.schema_migrations order by version',
    ),
  )
  const isOther = applied.find(({ version, checksum }, at) => {
    const mine = known[at]
    return mine !== undefined && (mine.version !== version || mine.checksum !== checksum)
  })
  if (isOther) {
    const detail = `Migration ${isOther.version} (${isOther.name}) is not the one of this version.`
    return problem(check, detail, 'Use the version of the Hub that migrated this database, or a later one.')
  }
  if (applied.length > known.length) {
    const detail = `The database has ${applied.length - known.length} migrations that this version does not know.`
    return problem(check, detail, 'Use the version of the Hub that last used this database, or a later one.')
  }
  const missing = known.slice(applied.length)
  if (missing.length === 0) return ok(check, `All ${known.length} are applied.`)
  return problem(check, `${missing.length} of ${known.length} are missing, from ${missing[0]?.name} on.`, runMigrate)
}

/** Checks that the partitions of this month and of the coming ones exist: without one, nothing can be written. */
export async function checkPartitions(database: ExaminedDatabase): Promise<Finding> {
  const { rows } = await database.read((client) =>
    client.query<{ ahead: number; month: string }>(
      `select ahead::int, to_char(month, 'YYYY-MM') as month
       from generate_series(0, $1::int) ahead,
            lateral (select (now() at time zone 'UTC') + make_interval(months => ahead) as month) m
       where to_regclass('hub.records_' || to_char(month, '"y"YYYY"m"MM')) is null order by 1`,
      [partitionMonthsAhead],
    ),
  )
  const [first] = rows
  if (first === undefined) return ok('partitions', `They exist for ${partitionMonthsAhead} months ahead.`)
  const detail = `hub.records has none for ${rows.map(({ month }) => month).join(', ')}, and writes fail without it.`
  const action = 'Run: hub migrate, and check that a process has the role worker or all.'
  return first.ahead <= 1 ? problem('partitions', detail, action) : warning('partitions', detail, action)
}
