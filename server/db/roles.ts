import pg from 'pg'
import { deriveKey } from '../secrets/encryption.ts'
import { StartupError } from '../startup-error.ts'
import { asRole, type ConnectionTarget, clientConfig } from './connection-settings.ts'
import type { DatabaseLog } from './database.ts'
import { jobSchema } from './job-schema.ts'
import { scramVerifier } from './scram.ts'

/** A login of the service and the group role whose privileges it has. */
interface ServiceLogin {
  readonly user: string
  readonly password: string
  readonly group: 'hub_app' | 'hub_ingest'
}

export interface ServiceLogins {
  readonly app: ServiceLogin
  readonly ingest: ServiceLogin
}

/**
 * Returns the two logins of this Hub. Roles belong to the whole cluster, so names and passwords derive from the master
 * key: two Hubs on one cluster do not conflict, and nothing is stored.
 */
export function serviceLogins(masterKey: Buffer): ServiceLogins {
  const suffix = deriveKey(masterKey, 'database role name').toString('hex').slice(0, 8)
  const login = (group: ServiceLogin['group']): ServiceLogin => ({
    user: `${group}_${suffix}`,
    password: deriveKey(masterKey, `database password ${group}`).toString('base64url'),
    group,
  })
  return { app: login('hub_app'), ingest: login('hub_ingest') }
}

interface RoleRow {
  rolname: string
  privileged: boolean
  groups: string[]
}

/**
 * Creates the missing group roles that migrations grant to, and the logins in them. A start that finds all in place
 * changes nothing.
 *
 * @throws StartupError with the SQL for an administrator, if the owner may not create them
 */
export async function ensureRoles(owner: pg.Client, target: ConnectionTarget, logins: ServiceLogins): Promise<void> {
  const both = [logins.app, logins.ingest]
  const existing = await readRoles(owner, both)
  const privileged = existing.find((role) => role.privileged)
  if (privileged) {
    throw new StartupError(
      `The database role ${privileged.rolname} can bypass row-level security.`,
      `As an administrator of the database, run: alter role ${privileged.rolname} nosuperuser nobypassrls;`,
    )
  }
  await runOrReport(owner, target, missingRoles(existing, both))
  await Promise.all(both.map((login) => ensurePassword(owner, target, login)))
}

async function readRoles(owner: pg.Client, logins: ServiceLogin[]): Promise<RoleRow[]> {
  const { rows } = await owner.query<RoleRow>(
    `select r.rolname::text, r.rolsuper or r.rolbypassrls as privileged,
       array(select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid
             where m.member = r.oid) as groups
     from pg_roles r where r.rolname = any($1)`,
    [logins.flatMap((login) => [login.group, login.user])],
  )
  return rows
}

function missingRoles(existing: RoleRow[], logins: ServiceLogin[]): string[] {
  const find = (name: string) => existing.find((role) => role.rolname === name)
  const groups = logins.filter((login) => !find(login.group)).map((login) => `create role ${login.group} nologin`)
  const users = logins.flatMap((login) => {
    const role = find(login.user)
    if (role) return role.groups.includes(login.group) ? [] : [`grant ${login.group} to ${login.user}`]
    const attributes = 'login nosuperuser nobypassrls nocreatedb nocreaterole'
    return [
      `create role ${login.user} ${attributes} in role ${login.group} password '${scramVerifier(login.password)}'`,
    ]
  })
  return [...groups, ...users]
}

/**
 * Runs statements in order.
 *
 * @throws StartupError with the statements from the first one on that the owner may not run
 */
export async function runOrReport(owner: pg.Client, target: ConnectionTarget, statements: string[]): Promise<void> {
  for (const [index, statement] of statements.entries()) {
    try {
      await owner.query(statement)
    } catch (cause) {
      const { code } = cause as pg.DatabaseError
      // Another process created it at the same moment: duplicate object, unique violation, concurrent update.
      if (code === '42710' || code === '23505' || code === 'XX000') continue
      if (code !== '42501') throw cause
      throw new StartupError(
        `The database user ${target.user} lacks a permission that the Hub requires: ${(cause as Error).message}.`,
        `As an administrator of the database, run this, and start again:\n${statements
          .slice(index)
          .map((each) => `  ${each};`)
          .join('\n')}`,
        { cause },
      )
    }
  }
}

/** Tries a login before changing it: ALTER ROLE at every start would contend with the starts of other Hubs. */
async function ensurePassword(owner: pg.Client, target: ConnectionTarget, login: ServiceLogin): Promise<void> {
  const first = await tryLogin(target, login)
  if (first === undefined) return
  if (first.code === '28P01') {
    const change = `alter role ${login.user} password '${scramVerifier(login.password)}'`
    await runOrReport(owner, target, [change])
  } else if (first.code === '42501') {
    const grant = `grant connect on database ${pg.escapeIdentifier(target.database ?? '')} to ${login.user}`
    await runOrReport(owner, target, [grant])
  }
  const second = await tryLogin(target, login)
  if (second === undefined) return
  throw new StartupError(
    `The database rejects its role ${login.user}: ${second.message}.`,
    'Allow this role with password authentication (scram-sha-256) in pg_hba.conf.',
    { cause: second },
  )
}

async function tryLogin(target: ConnectionTarget, login: ServiceLogin): Promise<pg.DatabaseError | undefined> {
  const client = new pg.Client(clientConfig(asRole(target, login), 'hub-start'))
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    if (/^(28|42501)/.test((error as pg.DatabaseError).code ?? '')) return error as pg.DatabaseError
    throw error
  } finally {
    await client.end()
  }
}

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
    'logins of another master key can connect to this database; if no Hub of yours uses them here, run this SQL',
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
