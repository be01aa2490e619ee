import { scopeNames } from '../../contract/scopes.ts'
import type { Answer } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'
import { operatorToken, tenantsPath } from '../tenants/operator-lab.ts'
import { type HubWithCompany, startHubWithCompany } from './hub-with-company.ts'

export const tenant = 'initech'
export const healthPath = '/api/v1/observability/tenant-health'

/** A Hub with everything that an onboarding meets on its way, and a tenant that has nothing yet. */
export interface OnboardingLab extends HubWithCompany {
  /** As the service account that onboards the tenant, over the network. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** A call that must succeed; answers the body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  must(method: string, path: string, body?: unknown): Promise<any>
  /** How many governance events of a kind there are, of all pages. */
  countEvents(kind: string): Promise<number>
  /** Names of the checks that are red. */
  red(): Promise<string[]>
  /** Waits until an answer has that status. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  settled(path: string, status?: string, withinMs?: number): Promise<any>
}

/** Half of the people are analysts, and half are writers. */
export async function startOnboardingLab(people: number): Promise<OnboardingLab> {
  const users = manyPeople(people, 'initech.example')
  const half = Math.ceil(people / 2)
  const groups = [groupEntry('Analysts', users.slice(0, half)), groupEntry('Writers', users.slice(half))]
  const company = await startHubWithCompany({ users, groups })
  const { hub } = company

  const request = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const response = await fetch(`${hub.baseUrl}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer: Answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      body: text.startsWith('{') ? JSON.parse(text) : undefined,
    }
    return answer
  }

  const made = await request(
    'POST',
    tenantsPath,
    { authorization: `Bearer ${operatorToken}` },
    { slug: tenant, mode: 'A', admin_email: 'peter@initech.example' },
  )
  if (made.status !== 201) throw new Error(`the tenant is not made: ${made.text}`)
  // As `hub service-account create` does.
  const account = await hub.modules.auth.serviceAccounts.create(
    (await hub.modules.tenants.directory.find(tenant))!,
    { name: 'onboarding', scopes: scopeNames },
    { operator: 'test' },
  )
  const granted = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: account.client_id,
      client_secret: account.client_secret,
    }),
  })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const call = (method: string, path: string, body?: unknown) =>
    request(method, path, { authorization: `Bearer ${token}`, 'x-service-tenant': tenant }, body)

  async function must(method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  return {
    ...company,
    call,
    must,
    async countEvents(kind) {
      let count = 0
      let cursor = ''
      do {
        const page = await must('GET', `/api/v1/hub/records?event_kind=${kind}&limit=1000${cursor}`)
        count += page.records.length
        cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
      } while (cursor !== '')
      return count
    },
    async red() {
      const { checks } = await must('GET', healthPath)
      return Object.entries<{ ok: boolean }>(checks).flatMap(([name, { ok }]) => (ok ? [] : [name]))
    },
    async settled(path, status = 'completed', withinMs = scaled(30_000)) {
      for (const end = performance.now() + withinMs; ; ) {
        const body = await must('GET', path)
        if (body.status === status) return body
        const isOver = ['completed', 'failed', 'cancelled'].includes(body.status)
        if (isOver || performance.now() > end) throw new Error(`${path}: ${JSON.stringify(body)}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
}
