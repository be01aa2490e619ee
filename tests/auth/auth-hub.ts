import { pino } from 'pino'
import type { TenantMode } from '../../contract/literals.ts'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import { createHttpServer } from '../../server/http/http-server.ts'
import { MemoryRateLimiter } from '../../server/http/rate-limiter.ts'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { createEntitlementModule } from '../../server/modules/entitlement/entitlement-module.ts'
import { createHubModule, createRecordStore } from '../../server/modules/hub/hub-module.ts'
import { type AuthLab, openAuthLab, operator, quiet } from './auth-lab.ts'

const tenants: Record<string, TenantMode> = { acme: 'A', globex: 'A', bmode: 'B', cmode: 'C' }

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, which the test then looks into
  body: any
}

/** The lab with an HTTP server on a port of its own, and the tenants acme and globex (A), bmode (B) and cmode (C). */
export interface AuthHub extends AuthLab {
  url: string
  welcomeUrls: Record<string, string>
  account(tenant: string, scopes?: readonly Scope[]): Promise<ServiceAccountCredentials>
  /** A token request; fields are added to grant type and credentials, or take their place. */
  requestToken(fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
  tokenFor(tenant: string, scopes?: readonly Scope[]): Promise<string>
  call(tenant: string, method: string, path: string, options?: CallOptions): Promise<Answer>
}

interface CallOptions {
  scopes?: readonly Scope[]
  body?: unknown
  headers?: Record<string, string>
  /** Instead of one that is made for the call. */
  token?: string
}

export async function startAuthHub({ limitFactor = 1000 } = {}): Promise<AuthHub> {
  let url = 'http://127.0.0.1:0'
  const lab = await openAuthLab(() => url)
  const { database, masterKey } = lab.store
  const app = createHttpServer({
    config: { environment: 'development', trustedProxies: [], limitFactor },
    baseUrl: () => url,
    logger: pino({ level: 'silent' }),
    access: lab.auth.access,
    limiter: new MemoryRateLimiter(),
    limitsOf: (slug) => lab.tenants.directory.limitsOf(slug),
    checkAnswers: true,
  })
  const { governance } = lab
  const entitlement = createEntitlementModule({
    database,
    masterKey,
    governance,
    catalogueChanged: (tenant) => lab.catalogueChanges.push(tenant),
  })
  const hub = createHubModule({
    ...createRecordStore({ database, keys: lab.keys.provenance }),
    database,
    keys: lab.keys.provenance,
    masterKey,
    governance,
    skills: entitlement.registry,
    log: quiet,
  })
  for (const module of [lab.keys, lab.tenants, lab.auth, lab.roster, entitlement, hub]) module.routes(app)
  url = await app.listen({ port: 0, host: '127.0.0.1' })

  const welcomeUrls: Record<string, string> = {}
  for (const [slug, mode] of Object.entries(tenants)) {
    const made = await lab.tenants.administration.create({ slug, mode, adminEmail: `admin@${slug}.example` }, operator)
    welcomeUrls[slug] = made.welcome.url
  }
  const client = clientOf(lab, () => url)
  return {
    ...lab,
    ...client,
    url,
    welcomeUrls,
    async close() {
      await app.close()
      await hub.settled()
      await lab.close()
    },
  }
}

function clientOf(lab: AuthLab, url: () => string): Pick<AuthHub, 'account' | 'requestToken' | 'tokenFor' | 'call'> {
  let accounts = 0
  const tokens = new Map<string, Promise<string>>()

  async function account(slug: string, scopes: readonly Scope[] = scopeNames) {
    const tenant = await lab.tenants.directory.find(slug)
    if (!tenant) throw new Error(`no tenant ${slug}`)
    accounts += 1
    return lab.auth.serviceAccounts.create(tenant, { name: `account-${accounts}`, scopes }, operator)
  }

  async function requestToken(fields: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields })
    return read(await fetch(`${url()}/api/v1/oauth/token`, { method: 'POST', headers, body }))
  }

  async function newToken(slug: string, scopes: readonly Scope[]): Promise<string> {
    const { client_id, client_secret } = await account(slug, scopes)
    return (await requestToken({ client_id, client_secret })).body.access_token
  }

  function tokenFor(slug: string, scopes: readonly Scope[] = scopeNames): Promise<string> {
    const key = `${slug} ${scopes.join(' ')}`
    const token = tokens.get(key) ?? newToken(slug, scopes)
    tokens.set(key, token)
    return token
  }

  return {
    account,
    requestToken,
    tokenFor,
    async call(tenant, method, path, options = {}) {
      const headers: Record<string, string> = {
        authorization: `Bearer ${options.token ?? (await tokenFor(tenant, options.scopes))}`,
        'x-service-tenant': tenant,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      }
      const body = options.body === undefined ? null : JSON.stringify(options.body)
      return read(await fetch(`${url()}${path}`, { method, headers, body }))
    },
  }
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
}

/** The four refusals that every operation with a token has in common. `scopes` are ones that do not suffice. */
export async function commonRefusals(
  hub: AuthHub,
  method: string,
  path: string,
  options: { scopes: readonly Scope[]; body?: unknown },
): Promise<Record<string, [number, string]>> {
  const { body, scopes } = options
  const answers = {
    noToken: await hub.call('acme', method, path, { body, headers: { authorization: '' } }),
    wrongScope: await hub.call('acme', method, path, { body, scopes }),
    foreignTenant: await hub.call('acme', method, path, { body, headers: { 'x-service-tenant': 'globex' } }),
    unknownTenant: await hub.call('acme', method, path, { body, headers: { 'x-service-tenant': 'nowhere' } }),
  }
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, [answer.status, answer.body.type.split('/').at(-1)]]),
  )
}

/** What {@link commonRefusals} must find. */
export const allRefused = {
  noToken: [401, 'authentication-failed'],
  wrongScope: [403, 'insufficient-scope'],
  foreignTenant: [403, 'invalid-tenant'],
  unknownTenant: [403, 'invalid-tenant'],
}
