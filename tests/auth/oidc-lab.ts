import { CookieJar } from 'tough-cookie'
import { type Answer, startHub, type TestHub, type TestHubOptions, type TestTenant } from '../support/hub.ts'
import {
  type IdentityProvider,
  type IdentityProviderOptions,
  startIdentityProvider,
} from '../support/identity-provider.ts'
import { eventsOf, type GovernanceEventRecord } from './auth-lab.ts'

export const callbackPath = '/api/v1/auth/callback'
export const loginPath = '/api/v1/auth/login'
export const ssoPath = '/api/v1/identity/sso/configure'

export const kim = { sub: 'kim', email: 'kim@acme.example', email_verified: true, name: 'Kim Novak' }
export const client = { client_id: 'hub-client', client_secret: 'a secret of the provider' }

/** The Hub and an OpenID provider on loopback ports, not yet connected with each other. */
export interface OidcLab {
  hub: TestHub
  provider: IdentityProvider
  /** Connects a tenant with the provider; must succeed. */
  connect(tenant: TestTenant, settings?: Partial<SsoBody>): Promise<Answer>
  browser(): Browser
  events(tenant: TestTenant, kind?: string): Promise<GovernanceEventRecord[]>
  close(): Promise<void>
}

export interface SsoBody {
  issuer: string
  client_id: string
  client_secret: string
  allowed_email_domains: string[]
}

export interface Page {
  status: number
  headers: Headers
  text: string
  /** Where it sends the browser. */
  location: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
}

/** What a browser does with cookies and redirects, one step at a time. */
export interface Browser {
  jar: CookieJar
  /** Does not follow redirects. */
  go(url: string | URL, headers?: Record<string, string>): Promise<Page>
  /** To the login of the tenant and through the provider, up to the address it sends the browser back to. */
  toCallback(tenant: string, sub: string | null, returnTo?: string): Promise<URL>
  /** All of it. Answers what the callback answered. */
  signIn(tenant: string, sub: string, returnTo?: string): Promise<Page>
  /** Values of the cookies of the Hub. */
  cookies(): Promise<Record<string, string>>
}

export async function startOidcLab(
  options: { hub?: TestHubOptions; provider?: Partial<IdentityProviderOptions> } = {},
): Promise<OidcLab> {
  const hub = await startHub({
    ...options.hub,
    settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1', ...options.hub?.settings },
  })
  const provider = await startIdentityProvider({
    clients: [{ ...client, redirect_uris: [`${hub.baseUrl}${callbackPath}`] }],
    accounts: [kim],
    ...options.provider,
  })
  return {
    hub,
    provider,
    async connect(tenant, settings) {
      const body = { issuer: provider.issuer, ...client, allowed_email_domains: ['acme.example'], ...settings }
      const answer = await hub.call(tenant, 'POST', ssoPath, { body })
      if (answer.status !== 200) throw new Error(`${tenant} is not connected: ${answer.text}`)
      return answer
    },
    browser: () => openBrowser(hub, provider),
    async events(tenant, kind) {
      const all = await eventsOf(hub.test.database, tenant)
      return all.filter((event) => kind === undefined || event.event_kind === kind)
    },
    async close() {
      await provider.stop()
      await hub.stop()
    },
  }
}

export function openBrowser(hub: TestHub, provider: IdentityProvider): Browser {
  const jar = new CookieJar()

  async function go(to: string | URL, headers: Record<string, string> = {}): Promise<Page> {
    const url = new URL(to, hub.baseUrl)
    const cookie = await jar.getCookieString(url.href)
    const response = await fetch(url, { redirect: 'manual', headers: { ...(cookie && { cookie }), ...headers } })
    for (const line of response.headers.getSetCookie()) await jar.setCookie(line, url.href)
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    const location = response.headers.get('location')
    return {
      status: response.status,
      headers: response.headers,
      text,
      location,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }

  async function toCallback(tenant: string, sub: string | null, returnTo?: string): Promise<URL> {
    const query = new URLSearchParams({ tenant, ...(returnTo !== undefined && { return_to: returnTo }) })
    const { status, location, text } = await go(`${loginPath}?${query}`)
    if (status !== 302 || location === null) throw new Error(`the login did not begin: ${status} ${text}`)
    return provider.signIn(location, sub, jar)
  }

  return {
    jar,
    go,
    toCallback,
    signIn: async (tenant, sub, returnTo) => go(await toCallback(tenant, sub, returnTo)),
    async cookies() {
      const names = ['service_session', '__Host-service_login', '__Secure-service_refresh']
      const all = await jar.getCookies(`${hub.baseUrl}/api/v1/auth/token`)
      return Object.fromEntries(all.filter((each) => names.includes(each.key)).map((each) => [each.key, each.value]))
    },
  }
}
