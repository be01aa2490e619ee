import pg from 'pg'
import type { ConnectionTarget } from './connection-settings.ts'
import type { DatabaseLog } from './database.ts'
import { jobSchema } from './job-schema.ts'
import { runOrReport, type ServiceLogins } from './roles.ts'

interface Usage {
  schema: string
  role: string
}

/**
 * Opens the schemas of this database to the logins of this Hub, and to no other. Tables are granted to the groups
 * `hub_app` and `hub_ingest`, which all Hubs of a server share. Without access to the schema such a grant is worthless,
 * so a login of another Hub in the same group can read nothing. A start that finds all in place changes nothing.
 *
 * @throws StartupError with the SQL for an administrator, if the owner may not do it
 */
export async function ensureSchemaAccess(
  owner: pg.Client,
  target: ConnectionTarget,
  { app, ingest }: ServiceLogins,
  log: DatabaseLog | undefined,
): Promise<void> {
  const wanted: Usage[] = [
    { schema: 'hub', role: app.user },
    { schema: 'hub', role: ingest.user },
    { schema: jobSchema, role: app.user },
  ]
  const found = await readUsages(owner)
  const has = ({ schema, role }: Usage) => found.some((each) => each.schema === schema && each.role === role)
  const missing = wanted.filter((usage) => !has(usage))
  const shared = found.filter(({ role }) => role === app.group || role === ingest.group)
  // Grants before it revokes, so that running processes never lose access.
  await runOrReport(owner, target, [
    ...missing.map(({ schema, role }) => `grant usage on schema ${schema} to ${role}`),
    ...shared.map(({ schema, role }) => `revoke usage on schema ${schema} from ${role}`),
  ])
  const foreign = found.filter(({ role }) => isServiceLogin(role) && role !== app.user && role !== ingest.user)
  if (foreign.length === 0) return
  log?.warn(
    { sql: foreign.map(({ schema, role }) => `revoke usage on schema ${schema} from ${pg.escapeIdentifier(role)};`) },
    'logins of another master key may enter this database; if no Hub of yours uses them here, run this SQL',
  )
}

/** Reads which roles, besides the owner, may use the schemas of a Hub. */
async function readUsages(owner: pg.Client): Promise<Usage[]> {
  const { rows } = await owner.query<Usage>(
    `select n.nspname::text as schema, r.rolname::text as role
     from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
     where n.nspname = any($1) and a.privilege_type = 'USAGE' and a.grantee <> n.nspowner
     order by 1, 2`,
    [['hub', jobSchema]],
  )
  return rows
}

function isServiceLogin(role: string): boolean {
  return /^hub_(app|ingest)_[0-9a-f]{8}$/.test(role)
}
