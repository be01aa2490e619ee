import { type Scope, scopeNames } from '../../contract/scopes.ts'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { startHub, type TestHub, type TestHubOptions } from '../support/hub.ts'
import { eventsOf, type GovernanceEventRecord, operator } from './auth-lab.ts'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, which the test then looks into
  body: any
}

/** The Hub on a port of its own, called over real HTTP, with a tenant `bmode` (B) besides the usual ones. */
export interface AuthHub {
  hub: TestHub
  url: string
  account(tenant: string, scopes?: readonly Scope[]): Promise<ServiceAccountCredentials>
  /** A token request; fields are added to grant type and credentials, or take their place. */
  requestToken(fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
  call(tenant: string, method: string, path: string, options?: CallOptions): Promise<Answer>
  events(tenant: string): Promise<GovernanceEventRecord[]>
  close(): Promise<void>
}

interface CallOptions {
  scopes?: readonly Scope[]
  body?: unknown
  headers?: Record<string, string>
  /** Instead of one that is made for the call. */
  token?: string
}

export async function startAuthHub(options: TestHubOptions = {}): Promise<AuthHub> {
  const hub = await startHub(options)
  const { auth, tenants } = hub.modules
  await tenants.administration.create({ slug: 'bmode', mode: 'B', adminEmail: 'admin@bmode.example' }, operator)
  let accounts = 0
  const tokens = new Map<string, Promise<string>>()

  async function account(slug: string, scopes: readonly Scope[] = scopeNames) {
    const tenant = await tenants.directory.find(slug)
    if (!tenant) throw new Error(`no tenant ${slug}`)
    accounts += 1
    return auth.serviceAccounts.create(tenant, { name: `account-${accounts}`, scopes }, operator)
  }

  async function requestToken(fields: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields })
    return read(await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', headers, body }))
  }

  async function newToken(slug: string, scopes?: readonly Scope[]): Promise<string> {
    const { client_id, client_secret } = await account(slug, scopes)
    return (await requestToken({ client_id, client_secret })).body.access_token
  }

  function tokenFor(slug: string, scopes?: readonly Scope[]): Promise<string> {
    const key = `${slug} ${scopes?.join(' ')}`
    const token = tokens.get(key) ?? newToken(slug, scopes)
    tokens.set(key, token)
    return token
  }

  return {
    hub,
    url: hub.baseUrl,
    account,
    requestToken,
    async call(tenant, method, path, callOptions = {}) {
      const { scopes, token, body } = callOptions
      const headers: Record<string, string> = {
        authorization: `Bearer ${token ?? (await tokenFor(tenant, scopes))}`,
        'x-service-tenant': tenant,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...callOptions.headers,
      }
      const text = body === undefined ? null : JSON.stringify(body)
      return read(await fetch(`${hub.baseUrl}${path}`, { method, headers, body: text }))
    },
    events: (tenant) => eventsOf(hub.test.database, tenant),
    close: () => hub.stop(),
  }
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
}

/** The refusals that every operation with a token has in common. `scopes` are ones that do not suffice. */
export async function commonRejections(
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

/** Lists the expected results of {@link commonRejections}. */
export const allRefused = {
  noToken: [401, 'authentication-failed'],
  wrongScope: [403, 'insufficient-scope'],
  foreignTenant: [403, 'invalid-tenant'],
  unknownTenant: [403, 'invalid-tenant'],
}
