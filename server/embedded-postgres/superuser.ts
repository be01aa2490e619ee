import pg from 'pg'
import { bootstrapLock } from '../db/advisory-locks.ts'
import { type ConnectionTarget, clientConfig } from '../db/connection-settings.ts'
import { scramVerifier } from '../db/scram.ts'
import { deriveKey } from '../secrets/encryption.ts'

const ownerName = 'hub_owner'
const databaseName = 'hub'
const probeName = 'hub-probe'
const starterPrefix = 'hub-starter'

export type Purpose = 'serve' | 'command'

export interface EmbeddedTargets {
  readonly superuser: ConnectionTarget
  readonly owner: ConnectionTarget
}

/** Returns the two accounts of an embedded server. Their passwords derive from the master key, so none is stored. */
export function embeddedAccounts(masterKey: Buffer) {
  const password = (purpose: string) =>
    deriveKey(masterKey, `embedded database password ${purpose}`).toString('base64url')
  return {
    superuser: { user: 'postgres', password: password('postgres') },
    owner: { user: ownerName, password: password(ownerName) },
  }
}

/** Returns the targets of an embedded server that listens on a socket in this directory. */
export function embeddedTargets(masterKey: Buffer, socketDirectory: string, port = 5432): EmbeddedTargets {
  const { superuser, owner } = embeddedAccounts(masterKey)
  const at = { host: socketDirectory, port, ssl: false, options: undefined }
  return {
    superuser: { ...at, database: 'postgres', ...superuser },
    owner: { ...at, database: databaseName, ...owner },
  }
}

/**
 * Creates the owner and its database if they are missing. From then on an embedded server is used exactly like an
 * external one: through its owner, who is no superuser.
 */
export async function bootstrapOwner({ superuser, owner }: EmbeddedTargets): Promise<void> {
  await withSession(superuser, 'hub-start', async (client) => {
    // A command beside a server that is starting waits here until all is created.
    await client.query('select pg_advisory_lock($1::bigint)', [bootstrapLock])
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as role,
              exists (select from pg_database where datname = $2) as database`,
      [ownerName, databaseName],
    )
    if (!rows[0]?.role) {
      const verifier = scramVerifier(owner.password)
      await client.query(`create role ${ownerName} login createrole password '${verifier}'`)
    }
    if (!rows[0]?.database) await client.query(`create database ${databaseName} owner ${ownerName}`)
  })
}

/** Identifies the process that started the running server: a `hub serve`, or a command for as long as it takes. */
export interface Starter {
  readonly purpose: Purpose
  readonly pid: number
}

/** Opens the session that marks this process as the starter. It ends with the process; a file would remain. */
export function openStarterSession(superuser: ConnectionTarget, purpose: Purpose): Promise<pg.Client> {
  return openSession(superuser, `${starterPrefix} ${purpose} ${process.pid}`)
}

/** Opens a session that keeps a command, which started the server, from stopping it. */
export function openClientSession(superuser: ConnectionTarget): Promise<pg.Client> {
  return openSession(superuser, `hub-client ${process.pid}`)
}

/** Returns the starter of the running server; undefined if it has ended. */
export async function findStarter(superuser: ConnectionTarget): Promise<Starter | undefined> {
  const { rows } = await withSession(superuser, probeName, (client) =>
    client.query<Starter>(
      `select split_part(application_name, ' ', 2) as purpose, split_part(application_name, ' ', 3)::int as pid
       from pg_stat_activity
       where usename = current_user and starts_with(application_name, $1) order by purpose desc limit 1`,
      [`${starterPrefix} `],
    ),
  )
  return rows[0]
}

/** Counts the sessions besides the given one, without those that look for the starter. */
export async function countOtherClients(session: pg.Client): Promise<number> {
  const { rows } = await session.query<{ clients: number }>(
    `select count(*) as clients from pg_stat_activity
     where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> $1`,
    [probeName],
  )
  return rows[0]?.clients ?? 0
}

async function withSession<T>(
  superuser: ConnectionTarget,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await openSession(superuser, name)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function openSession(superuser: ConnectionTarget, name: string): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(superuser, name))
  client.on('error', () => {})
  await client.connect()
  return client
}
