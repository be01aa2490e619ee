import { poolSizeOf } from '../../../server/cluster/serve-by-workers.ts'
import type { Config } from '../../../server/config.ts'
import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const versionMin = 150_000
/** Settings that lose acknowledged records in a crash when they are off, with what happens then. */
const dangerous = {
  fsync: 'a crash of the machine can destroy the database',
  full_page_writes: 'a crash of the machine can leave torn pages',
  synchronous_commit: 'a crash loses records that were acknowledged',
} as const

interface SettingsRow {
  version: number
  name: string
  encoding: string
  fsync: string
  full_page_writes: string
  synchronous_commit: string
  overrides: string[]
  available: number
  role_limit: number
  database_limit: number
}

async function readSettings(database: ExaminedDatabase): Promise<SettingsRow> {
  const users = Object.values(database.logins ?? {})
  const { rows } = await database.read((client) =>
    client.query<SettingsRow>(
      `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
         current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
         current_setting('full_page_writes') as full_page_writes,
         current_setting('synchronous_commit') as synchronous_commit,
         array(select unnest(s.setconfig) from pg_db_role_setting s left join pg_roles r on r.oid = s.setrole
               where s.setdatabase in (0, d.oid) and (s.setrole = 0 or r.rolname = any ($1))) as overrides,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) as available,
         d.datconnlimit as database_limit,
         coalesce((select min(r.rolconnlimit) from pg_roles r where r.rolname = any ($1) and r.rolconnlimit >= 0), -1)
           as role_limit
       from pg_database d where d.datname = current_database()`,
      [users],
    ),
  )
  return rows[0]!
}

/** Checks version, encoding, durability and the connection limits of the server. */
export async function checkSettings(config: Config, database: ExaminedDatabase): Promise<Finding[]> {
  const row = await readSettings(database)
  const findings = [checkVersion(row, database), ...checkDurability(row)]
  // The doctor starts an embedded server with other limits than `serve` with workers does.
  return database.startedHere && config.workers > 1 ? findings : [...findings, checkConnections(row, config)]
}

function checkVersion({ version, name, encoding }: SettingsRow, { embedded }: ExaminedDatabase): Finding {
  if (version < versionMin) {
    return problem('database', `The server is PostgreSQL ${name}, which is too old.`, 'Use PostgreSQL 15 or later.')
  }
  if (encoding !== 'UTF8') {
    const fix = "Move to a database created with: create database hub encoding 'UTF8' template template0;"
    return problem('database', `It stores text as ${encoding}.`, fix)
  }
  return ok('database', `${embedded ? 'Embedded ' : ''}PostgreSQL ${name}.`)
}

function checkDurability(row: SettingsRow): Finding[] {
  const names = Object.keys(dangerous) as (keyof typeof dangerous)[]
  const off = names.filter((name) => row[name] === 'off' || row.overrides.includes(`${name}=off`))
  if (off.length === 0) return [ok('settings', 'fsync, full_page_writes and synchronous_commit are on.')]
  return off.map((name) =>
    problem(
      'settings',
      `${name} is off: ${dangerous[name]}.`,
      `Set ${name} = on for the server, the database and the roles of the Hub.`,
    ),
  )
}

/** Connections beside the pools: jobs, notifications and health. */
const singleConnections = 4

function checkConnections(row: SettingsRow, config: Config): Finding {
  const check = 'connections'
  const isCluster = config.workers > 1 && config.role !== 'worker'
  const processes = isCluster ? config.workers + 1 : 1
  const app = isCluster ? poolSizeOf(config) : config.databasePoolSize
  // A pooler decides how many connections its transactions share.
  const pooled = config.databaseDirectUrl === undefined ? app + Math.ceil(app / 2) : 0
  const needed = processes * (pooled + singleConnections)
  const limits = [
    { of: 'max_connections of the server leaves', limit: row.available },
    { of: 'the connection limit of the database is', limit: row.database_limit },
    { of: 'the connection limit of a role of the Hub is', limit: row.role_limit },
  ].filter(({ limit }) => limit >= 0)
  const least = limits.reduce((a, b) => (b.limit < a.limit ? b : a))
  const detail = `This machine's processes use up to ${needed}, and ${least.of} ${least.limit}.`
  if (needed > least.limit) {
    return problem(check, detail, 'Raise that limit, or lower HUB_DATABASE_POOL or HUB_WORKERS.')
  }
  if (needed > 0.8 * least.limit) {
    return warning(check, detail, 'Raise that limit before you add a process.')
  }
  return ok(check, detail)
}
