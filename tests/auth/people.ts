import { CookieJar } from 'tough-cookie'
import type { Role } from '../../contract/roles.ts'
import type { OpenedSession, SignInMethod } from '../../server/modules/auth/auth-types.ts'
import type { User } from '../../server/modules/roster/roster-types.ts'
import type { TestHub } from '../support/hub.ts'
import { type Answer, read } from './auth-hub.ts'

export const cookieNames = {
  session: 'service_session',
  refresh: '__Secure-service_refresh',
  login: '__Host-service_login',
} as const

interface BrowserCall {
  body?: unknown
  headers?: Record<string, string>
  /** An access token to send along. */
  bearer?: string
}

/** Calls the service over HTTP as a browser does: with the cookies of its jar, and keeping those it is given. */
export class Browser {
  readonly jar = new CookieJar(undefined, { prefixSecurity: 'strict' })
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async call(method: string, path: string, { body, headers = {}, bearer }: BrowserCall = {}): Promise<Answer> {
    const url = this.url + path
    const cookie = this.jar.getCookieStringSync(url)
    const response = await fetch(url, {
      method,
      headers: {
        ...(cookie && { cookie }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'manual',
    })
    for (const line of response.headers.getSetCookie()) this.jar.setCookieSync(line, url)
    return read(response)
  }

  token(body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', '/api/v1/auth/token', { body, ...(headers && { headers }) })
  }

  refresh(refreshToken: string): Promise<Answer> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken })
  }

  /** The value of a cookie that it would send to the sign-in operations. */
  cookie(name: string): string | undefined {
    return this.jar.getCookiesSync(`${this.url}/api/v1/auth/token`).find((each) => each.key === name)?.value
  }

  keep(name: string, value: string): void {
    const path = name === cookieNames.refresh ? '/api/v1/auth' : '/'
    this.jar.setCookieSync(`${name}=${value}; Path=${path}; Secure; HttpOnly; SameSite=Strict`, this.url)
  }

  forget(name: string): void {
    this.jar.setCookieSync(
      `${name}=; Path=${name === cookieNames.refresh ? '/api/v1/auth' : '/'}; Secure; Max-Age=0`,
      this.url,
    )
  }
}

export interface SignedInPerson {
  browser: Browser
  user: User
  session: OpenedSession
}

let people = 0

/** Somebody of the tenant, in a browser that has come back from signing in. */
export async function signIn(
  hub: TestHub,
  slug: string,
  options: { email?: string; role?: Role; method?: SignInMethod; userAgent?: string } = {},
): Promise<SignedInPerson> {
  people += 1
  const { email = `person-${people}@${slug}.example`, role, method = 'magic_link', userAgent } = options
  const { tenants, roster, auth } = hub.modules
  const tenant = await tenants.directory.find(slug)
  if (!tenant) throw new Error(`no tenant ${slug}`)
  const { user, session } = await hub.test.database.withTenant(slug, async (tx) => {
    const found = await roster.signInUsers.ensure(tx, tenant, email, role)
    const requestId = '01890a5d-ac96-774b-bcce-b302099a8057'
    const proof = { user: found, method, address: '203.0.113.7', requestId, userAgent }
    return { user: found, session: await auth.sessions.open(tx, tenant, proof) }
  })
  const browser = new Browser(hub.baseUrl)
  browser.keep(cookieNames.session, session.sessionToken)
  return { browser, user, session }
}

/** The slug of a problem, or the status of an answer that is none. */
export function outcome({ status, body }: Pick<Answer, 'status' | 'body'>): [number, string] {
  return [
    status,
    String(body?.type ?? 'fine')
      .split('/')
      .at(-1) as string,
  ]
}
