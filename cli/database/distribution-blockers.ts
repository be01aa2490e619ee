import { programBreaches } from '../../server/db/distribution/program-breaches.ts'
import { type Breach, schemaBreaches } from '../../server/db/distribution/schema-rules.ts'
import type { ExaminedDatabase } from '../doctor/examined-database.ts'
import { type Finding, problem } from '../doctor/finding.ts'

interface ExtensionRow {
  created: boolean
  available: boolean
  database: string
  owner: string
  nodes: number
}

const page = 'See docs/distribution.md.'

/** Returns everything that prevents a distribution, with the step of the administrator that solves it. */
export async function findBlockers(database: ExaminedDatabase): Promise<Finding[]> {
  const breaches = await database.read(schemaBreaches)
  return [
    ...(await checkServer(database)),
    ...(database.hubRuns ? [problem('hub', 'A Hub uses this database.', 'Stop all its processes first.')] : []),
    ...ofBreaches('database', breaches, 'Correct the schema, or restore a backup that `hub doctor` finds fine.'),
    ...ofBreaches('program', programBreaches, 'Keep the database on one server with this version of the Hub.'),
  ]
}

async function checkServer(database: ExaminedDatabase): Promise<Finding[]> {
  if (database.embedded) {
    const action = 'Move to an external PostgreSQL with `hub backup` and `hub restore`, and set HUB_DATABASE_URL.'
    return [problem('server', 'The embedded PostgreSQL cannot be distributed.', action)]
  }
  const { created, available, database: name, owner, nodes } = await readExtension(database)
  if (created && nodes > 0) return []
  if (created) {
    const action =
      `As an administrator on this server, run in ${name}: select citus_set_coordinator_host('HOST', PORT); and ` +
      `select citus_add_node('WORKER', PORT); for each worker. ${page}`
    return [problem('nodes', 'The cluster has no worker.', action)]
  }
  const install = available ? '' : 'install Citus for the version of this PostgreSQL and '
  const action =
    `As an administrator, on this server and on each worker: ${install}add citus to shared_preload_libraries, restart, ` +
    `create the role ${owner} and the database ${name}, and run in it: create extension citus. Then add the workers with ` +
    `citus_add_node, and let this server log in to them by a password. ${page}`
  return [problem('extension', `The database ${name} has no Citus extension.`, action)]
}

async function readExtension(database: ExaminedDatabase): Promise<ExtensionRow> {
  return database.read(async (client) => {
    const { rows } = await client.query<ExtensionRow>(
      `select exists (select from pg_extension where extname = 'citus') as created,
         exists (select from pg_available_extensions where name = 'citus') as available,
         current_database() as database, current_user as owner, 0 as nodes`,
    )
    const row = rows[0]!
    if (!row.created) return row
    const { rows: counted } = await client.query<{ nodes: number }>(
      `select count(*)::int as nodes from pg_dist_node where noderole = 'primary' and groupid > 0 and isactive`,
    )
    return { ...row, nodes: counted[0]?.nodes ?? 0 }
  })
}

/** Returns one finding for each broken rule, with the places. */
function ofBreaches(check: string, breaches: readonly Breach[], action: string): Finding[] {
  const rules = [...new Set(breaches.map(({ rule }) => rule))].sort((a, b) => a - b)
  return rules.map((rule) => {
    const places = [...new Set(breaches.filter((breach) => breach.rule === rule).map(({ where }) => where))]
    return problem(check, `Rule ${rule} of distribution is broken by ${places.join(', ')}.`, action)
  })
}
