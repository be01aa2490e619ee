import { join } from 'node:path'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import { type OpenedDatabase, openDatabase } from '../../server/db/open-database.ts'
import { freshDataDirectory, serverPid } from '../../tests/support/data-directory.ts'
import { hubCommand, hubCommandOf, makeTenant, startHubProcess } from '../../tests/support/hub-process.ts'
import { atEnd } from './cleanup.ts'
import { logProgress } from './progress.ts'
import { archetypeIds, skillIds, skillVersion } from './sample-events.ts'

/** Factor of the limits. No benchmark reaches a limit, but requests are still counted. */
const limitFactor = '100000'
const tokenMsMax = 30 * 60_000
/** The program of this checkout. */
const ownMain = join(import.meta.dirname, '../../cli/main.ts')

/** Scopes of a tenant's account. */
export const scopes = 'hub:read hub:write telemetry:read telemetry:write'

export interface Credentials {
  tenant: string
  clientId: string
  clientSecret: string
}

/** A tenant with the archetypes and skills of the sample events. */
export interface BenchTenant {
  slug: string
  credentials: Credentials
  /** Returns headers for requests with JSON bodies, with a token that is valid for at least another half hour. */
  headers(): Promise<Record<string, string>>
}

/** Runs `hub serve` as shipped, in a process of its own, on its embedded PostgreSQL. */
export interface BenchHub {
  url: string
  pid: number
  /** The process id of the database server; its backends are its children. */
  postgresPid: number
  dataDir: string
  /** The database, for inspecting the store beside the service. */
  database: OpenedDatabase
  /** Returns a tenant; creates it if absent. */
  tenant(slug: string): Promise<BenchTenant>
  stop(): Promise<void>
}

export interface BenchHubOptions {
  /** The data directory; absent, a fresh one that is removed at the end. */
  dataDir?: string | undefined
  nodeOptions?: readonly string[]
  env?: Record<string, string>
}

export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const dataDir = options.dataDir ?? (await freshDataDirectory())
  const env = { HUB_LIMIT_FACTOR: limitFactor, ...options.env }
  const hub = await startHubProcess(dataDir, env, options.nodeOptions)
  let database: OpenedDatabase | undefined
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= (async () => {
      await database?.stop()
      await hub.stop()
    })()
    return stopped
  }
  atEnd(stop)
  const credentialsOf = async (slug: string) => {
    if (await exists(database!, slug)) return newAccount(dataDir, slug)
    const credentials = await makeTenant(dataDir, slug)
    await registerCatalogue(dataDir, hub.url, credentials)
    return credentials
  }
  database = await openDatabase(loadConfig({ HUB_DATA_DIR: dataDir }), { purpose: 'command' })
  return {
    url: hub.url,
    pid: hub.pid,
    postgresPid: await serverPid(dataDir),
    dataDir,
    database,
    tenant: async (slug) => tenantClient(hub.url, slug, await credentialsOf(slug)),
    stop,
  }
}

/** A service whose database the benchmark does not open: it can be of another version. */
export interface ServedHub {
  url: string
  pid: number
  /** The process id of the database server. */
  postgresPid: number
  tenant: BenchTenant
  stop(): Promise<void>
}

/** @param main the program of the version, `cli/main.ts` of its checkout */
export async function startServedHub(main: string): Promise<ServedHub> {
  const dataDir = await freshDataDirectory()
  const hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: limitFactor }, [], 0, main)
  atEnd(() => hub.stop())
  const credentials = await makeTenant(dataDir, 'bench', scopes, main)
  await registerCatalogue(dataDir, hub.url, credentials, main)
  return {
    url: hub.url,
    pid: hub.pid,
    postgresPid: await serverPid(dataDir),
    tenant: tenantClient(hub.url, 'bench', credentials),
    stop: () => hub.stop(),
  }
}

async function exists(database: OpenedDatabase, slug: string): Promise<boolean> {
  const { rowCount } = await database.withRegistry((tx) =>
    tx.client.query('select from hub.tenants where slug = $1', [slug]),
  )
  return rowCount === 1
}

/** Creates an account for a tenant of an earlier run: secrets are shown only once. */
async function newAccount(dataDir: string, slug: string): Promise<Credentials> {
  const account = await hubCommand<{ client_id: string; client_secret: string }>(
    dataDir,
    ...['service-account', 'create', '--tenant', slug, '--name', `load-${Date.now()}`, '--scope', scopes],
  )
  return { tenant: slug, clientId: account.client_id, clientSecret: account.client_secret }
}

async function registerCatalogue(
  dataDir: string,
  url: string,
  credentials: Credentials,
  main = ownMain,
): Promise<void> {
  await hubCommandOf(main, dataDir, 'archetypes', 'set', '--tenant', credentials.tenant, ...archetypeIds)
  const client = new HubClient({ baseUrl: url, ...credentials })
  for (const skillId of skillIds) {
    const skill = { record_type: 'skill_definition', skill_id: skillId, skill_version: skillVersion, name: skillId }
    await client.post('/api/v1/hub/records', { body: skill })
  }
}

function tenantClient(url: string, slug: string, credentials: Credentials): BenchTenant {
  let token: Promise<string> | undefined
  let fetchedAt = 0
  return {
    slug,
    credentials,
    headers: async () => {
      if (token === undefined || performance.now() - fetchedAt > tokenMsMax) {
        fetchedAt = performance.now()
        token = accessToken(url, credentials)
      }
      return {
        authorization: `Bearer ${await token}`,
        'x-service-tenant': slug,
        'content-type': 'application/json',
      }
    },
  }
}

/** Returns a token of the service at that address. No other service accepts it. */
export async function accessToken(url: string, credentials: Credentials): Promise<string> {
  const response = await fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }),
  })
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { access_token: string }).access_token
}

/** Returns the durability settings of the database: without fsync, a result would not compare. */
export async function durability(database: OpenedDatabase): Promise<Record<string, string>> {
  return database.withRegistry(async (tx) => {
    const { rows } = await tx.client.query<{ fsync: string; synchronous_commit: string; server_version: string }>(
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
              current_setting('server_version') as server_version`,
    )
    const settings = rows[0]!
    if (settings.fsync !== 'on' || settings.synchronous_commit !== 'on') {
      throw new Error(`the server does not wait for the disk: ${JSON.stringify(settings)}`)
    }
    logProgress(`PostgreSQL ${settings.server_version}, fsync and synchronous_commit on`)
    return { ...settings }
  })
}
