import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type pg from 'pg'
import { pino } from 'pino'
import type { Scope } from '../../contract/scopes.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config.ts'
import { createModules, type Modules } from '../../server/create-modules.ts'
import type { Database, DatabaseLog } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import type { TimeSource } from '../../server/records/record-clock.ts'
import type { TestCluster } from './cluster.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { connectJobQueue } from './job-queue.ts'

/** Two ordinary tenants, and one of Mode C. */
export const testTenants = { acme: 'A', globex: 'A', cmode: 'C' } as const
export type TestTenant = keyof typeof testTenants

export interface CallOptions {
  /** Scopes of the token; all by default. */
  scopes?: readonly Scope[]
  /** `null` sends no token. */
  token?: string | null
  body?: unknown
  /** Beyond the token and the tenant header; `undefined` takes a header away. */
  headers?: Record<string, string | undefined>
}

/** An answer with its body read as JSON, where it is. */
export interface Answer {
  status: number
  headers: Record<string, string | string[] | number | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
}

export interface TestHub {
  app: FastifyInstance
  modules: Modules
  test: TestDatabase
  baseUrl: string
  /** Its data directory, for what is kept in files. */
  dataDir: string
  /** Lines of the service's log. */
  logLines: string[]
  tenant(slug: TestTenant): Promise<Tenant>
  /** A token of a service account of the tenant, made once for each set of scopes. */
  token(tenant: TestTenant, scopes?: readonly Scope[]): Promise<string>
  /** `client_id` behind {@link token}: the `created_by` of what it writes. */
  clientId(tenant: TestTenant, scopes?: readonly Scope[]): Promise<string>
  call(tenant: TestTenant, method: string, path: string, options?: CallOptions): Promise<Answer>
  superuserClient(): Promise<pg.Client>
  stop(): Promise<void>
}

export interface TestHubOptions {
  limitFactor?: number
  onQuery?: (text: string) => void
  poolSize?: number
  /** Names the pooler for its transactions; none by default. */
  pooler?: { readonly port: number }
  /** Where its database is made; that of the run of tests if absent. */
  cluster?: TestCluster
  /** Further settings, such as `HUB_OUTBOUND_ALLOW`. */
  settings?: Readonly<Record<string, string>>
  /** Of records, holds, buffers and exports. */
  time?: TimeSource
  /** Answers the free bytes of disks; by default there is room enough. */
  freeBytes?: (path: string) => Promise<number>
  /** Puts something else in the place of a module, before anything runs. */
  adapt?: (modules: Modules, parts: { database: Database; masterKey: Buffer; log: DatabaseLog }) => void
}

/** The whole service in this process, on a database of its own. Answers are checked against their schemas. */
export async function startHub(options: TestHubOptions = {}): Promise<TestHub> {
  const test = await createTestDatabase(options)
  const logLines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) })
  const limitFactor = String(options.limitFactor ?? 1000)
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-test-'))
  const config = loadConfig({
    HUB_LIMIT_FACTOR: limitFactor,
    HUB_PORT: '0',
    HUB_DATA_DIR: dataDir,
    ...options.settings,
  })
  const address = { url: 'http://127.0.0.1' }
  const baseUrl = () => address.url
  const { database, masterKey } = test
  const { time } = options
  // For records of months to come.
  if (time) await (await test.superuserClient()).query('select hub.ensure_record_partitions(24)')
  const freeBytes = options.freeBytes ?? (async () => Number.MAX_SAFE_INTEGER)
  const modules = await createModules({
    config,
    database,
    masterKey,
    baseUrl,
    log,
    freeBytes,
    ...(time ? { time } : {}),
  })
  options.adapt?.(modules, { database, masterKey, log })
  const jobs = connectJobQueue(modules, test, log)
  for (const [slug, mode] of Object.entries(testTenants)) {
    await modules.tenants.administration.create(
      { slug, mode, adminEmail: `admin@${slug}.example` },
      { operator: 'test' },
    )
  }
  const app = await createApp(modules, { config, baseUrl, logger: log, checkResponses: true })
  address.url = await app.listen({ host: '127.0.0.1', port: 0 })

  const tenant = async (slug: TestTenant) => {
    const found = await modules.tenants.directory.find(slug)
    if (!found) throw new Error(`tenant ${slug} is missing`)
    return found
  }
  const grants = createGrants(modules, address, tenant)

  async function call(slug: TestTenant, method: string, path: string, callOptions: CallOptions = {}): Promise<Answer> {
    const { scopes, token, body, headers = {} } = callOptions
    const bearer = token === undefined ? (await grants(slug, scopes)).token : token
    const sent: Record<string, string | undefined> = {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      'x-service-tenant': slug,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const request: InjectOptions = {
      method: method as NonNullable<InjectOptions['method']>,
      url: path,
      headers: { host: new URL(address.url).host, ...withoutUndefined(sent) },
    }
    if (body !== undefined)
      request.payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const response = await app.inject(request)
    const text = response.payload
    const isJson = /[/+]json/.test(String(response.headers['content-type']))
    return { status: response.statusCode, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }

  return {
    app,
    modules,
    test,
    baseUrl: address.url,
    dataDir,
    logLines,
    tenant,
    token: async (slug, scopes) => (await grants(slug, scopes)).token,
    clientId: async (slug, scopes) => (await grants(slug, scopes)).clientId,
    call,
    superuserClient: () => test.superuserClient(),
    stop: async () => {
      await app.close()
      await jobs.stop()
      await modules.close()
      await test.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

interface Grant {
  clientId: string
  token: string
}

/** One service account for each tenant and set of scopes, and one token of it. */
function createGrants(modules: Modules, address: { url: string }, tenant: (slug: TestTenant) => Promise<Tenant>) {
  const grants = new Map<string, Promise<Grant>>()
  const make = async (slug: TestTenant, scopes: readonly Scope[]): Promise<Grant> => {
    const account = await modules.auth.serviceAccounts.create(
      await tenant(slug),
      { name: `test ${scopes.join(' ')}`.slice(0, 100), scopes },
      { operator: 'test' },
    )
    const response = await fetch(`${address.url}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: account.client_id,
        client_secret: account.client_secret,
      }),
    })
    if (!response.ok) throw new Error(`no token for ${slug}: ${response.status} ${await response.text()}`)
    const { access_token } = (await response.json()) as { access_token: string }
    return { clientId: account.client_id, token: access_token }
  }
  return (slug: TestTenant, scopes: readonly Scope[] = scopeNames): Promise<Grant> => {
    const key = `${slug} ${[...scopes].sort().join(' ')}`
    const known = grants.get(key)
    if (known) return known
    const made = make(slug, scopes)
    grants.set(key, made)
    return made
  }
}

function withoutUndefined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
