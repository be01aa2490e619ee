import { expect } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import { jobSchema } from '../../server/db/job-schema.ts'
import type { OpenedSession } from '../../server/modules/auth/auth-types.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts'

/** As in staging: nothing is listed on the console. */
const staging = { HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com' }

/** The Hub with a mail server. */
export interface LinkLab {
  hub: TestHub
  mail: MailServer
  /** Adds a user, as an administrator would, and answers the id. */
  add(tenant: TestTenant, email: string, role?: Role): Promise<string>
  deactivate(tenant: TestTenant, userId: string): Promise<void>
  /** Asks for a link over HTTP, as the page `/sign-in` does. */
  request(body: unknown, headers?: Record<string, string>): Promise<Response>
  /** The address in the mail that comes next after the first `count`. */
  linkAfter(count: number): Promise<string>
  /** Resolves once every request has been decided. */
  decided(): Promise<void>
  /** Moves the mailed links of a tenant into the past. */
  age(tenant: TestTenant, interval: string): Promise<void>
  stop(): Promise<void>
}

export async function startLinkLab(settings: Record<string, string> = {}): Promise<LinkLab> {
  const mail = await startMailServer()
  const hub = await startHub({ settings: { ...staging, HUB_SMTP_URL: mail.url, ...settings } })
  return {
    hub,
    mail,
    async add(tenant, email, role) {
      const body = { email, ...(role && { role }) }
      const answer = await hub.call(tenant, 'POST', '/api/v1/roster/users', { body })
      if (answer.status !== 201) throw new Error(answer.text)
      return answer.body.user_id
    },
    async deactivate(tenant, userId) {
      const answer = await hub.call(tenant, 'POST', `/api/v1/roster/users/${userId}:deactivate`)
      if (answer.status !== 200) throw new Error(answer.text)
    },
    request: (body, headers = {}) =>
      fetch(`${hub.baseUrl}/api/v1/auth/magic-link`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    linkAfter: async (count) => linkOf(await mail.next(count)),
    async decided() {
      const superuser = await hub.superuserClient()
      const open = async () => {
        const { rows } = await superuser.query(
          `select count(*)::int as jobs from ${jobSchema}.job where name = 'mail-sign-in-link' and state < 'completed'`,
        )
        return rows[0].jobs
      }
      await expect.poll(open).toBe(0)
    },
    async age(tenant, interval) {
      const superuser = await hub.superuserClient()
      const set = 'created_at = created_at - $2::interval, expires_at = expires_at - $2::interval'
      await superuser.query(`update hub.magic_links set ${set} where tenant_id = $1`, [tenant, interval])
      await hub.test.proveRows()
    },
    async stop() {
      await hub.stop()
      await mail.close()
    },
  }
}

/** The one link of a message, which both of its parts have. */
export function linkOf({ message }: ReceivedMail): string {
  const inText = message.text?.match(/https?:\/\/\S+\/sign-in\/link\/\S+/g) ?? []
  const inHtml = message.html?.match(/href="([^"]+)"/g) ?? []
  const [link] = inText
  if (!link || inText.length !== 1) throw new Error(`no single link in ${message.text}`)
  if (!inHtml.every((href) => href === `href="${link}"`)) throw new Error(`other links in ${message.html}`)
  return link
}

/** Presses the button of the page behind a link. */
export function press(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', redirect: 'manual', headers: { origin: new URL(url).origin, ...headers } })
}

/** The value of the session cookie that an answer sets. */
export function sessionCookieOf(response: Response): OpenedSession['sessionToken'] | undefined {
  const lines = response.headers.getSetCookie().filter((line) => line.startsWith('service_session='))
  return lines[0]?.split(';')[0]?.slice('service_session='.length) || undefined
}

/** Who is signed in, by the answer to a sign-in. */
export async function whoIsSignedIn(hub: TestHub, response: Response) {
  const cookie = `service_session=${sessionCookieOf(response)}`
  const answer = await fetch(`${hub.baseUrl}/api/v1/auth/me`, { headers: { cookie } })
  if (answer.status !== 200) throw new Error(await answer.text())
  return (await answer.json()) as { tenant: string; email: string; role: Role; session: { method: string } }
}
