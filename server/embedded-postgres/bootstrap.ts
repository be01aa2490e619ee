import pg from 'pg'
import { bootstrapLock } from '../db/advisory-locks.ts'
import { asRole, type ConnectionTarget, clientConfig } from '../db/connection-settings.ts'
import { scramVerifier } from '../db/scram.ts'
import { deriveKey } from '../secrets/encryption.ts'

const ownerName = 'hub_owner'
const databaseName = 'hub'

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
export function embeddedTargets(masterKey: Buffer, socket: { directory: string; port: number }) {
  const { superuser, owner } = embeddedAccounts(masterKey)
  const at = (database: string, account: { user: string; password: string }): ConnectionTarget =>
    asRole({ host: socket.directory, port: socket.port, database, ssl: false, options: undefined, ...account }, account)
  return { superuser: at('postgres', superuser), owner: at(databaseName, owner) }
}

/**
 * Creates the owner and its database if they are missing. From then on an embedded server is used exactly like an
 * external one: through its owner, who is no superuser.
 */
export async function bootstrapOwner(targets: { superuser: ConnectionTarget; owner: ConnectionTarget }): Promise<void> {
  const client = new pg.Client(clientConfig(targets.superuser, 'hub-start'))
  client.on('error', () => {})
  await client.connect()
  try {
    // A command beside a server that is starting waits here until all is created.
    await client.query('select pg_advisory_lock($1::bigint)', [bootstrapLock])
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as role,
              exists (select from pg_database where datname = $2) as database`,
      [ownerName, databaseName],
    )
    if (!rows[0]?.role) {
      const verifier = scramVerifier(targets.owner.password)
      await client.query(`create role ${ownerName} login createrole password '${verifier}'`)
    }
    if (!rows[0]?.database) await client.query(`create database ${databaseName} owner ${ownerName}`)
  } finally {
    await client.end()
  }
}
