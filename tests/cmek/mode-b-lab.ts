import { scopeNames } from '../../contract/scopes.ts'
import type { TestHub } from '../support/hub.ts'

/** A tenant in Mode B of a test's hub, with a service account that may do everything. */
export interface ModeB {
  slug: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** The governance events of a kind, oldest first. */
  events(kind: string): Promise<Record<string, unknown>[]>
  /** Provisions, and registers a skill. */
  ready(keyRef?: string): Promise<void>
}

interface Answer {
  status: number
  headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
  text: string
}

export const provisionPath = '/api/v1/hub/provision'

export async function modeB(hub: TestHub, slug: string): Promise<ModeB> {
  const actor = { operator: 'test' }
  await hub.modules.tenants.administration.create({ slug, mode: 'B', adminEmail: `admin@${slug}.example` }, actor)
  const tenant = (await hub.modules.tenants.directory.read(slug))!
  const account = await hub.modules.auth.serviceAccounts.create(tenant, { name: 'all', scopes: [...scopeNames] }, actor)
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const response = await fetch(`${hub.baseUrl}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
  const { client_id, client_secret } = account
  const answer = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  })
  const token = (await answer.json()) as { access_token: string }
  const call: ModeB['call'] = (method, path, body, headers = {}) =>
    send(method, path, body, {
      authorization: `Bearer ${token.access_token}`,
      'x-service-tenant': slug,
      ...headers,
    })
  return {
    slug,
    call,
    async events(kind) {
      const { body } = await call('GET', `/api/v1/hub/records?event_kind=${kind}&limit=100`)
      return body.records
    },
    async ready(keyRef = 'k1') {
      const made = await call('POST', provisionPath, { cmek: { provider: 'local', key_ref: keyRef } })
      if (made.status !== 200) throw new Error(made.text)
      const skill = { record_type: 'skill_definition', skill_id: 'sum', skill_version: '1.0.0', name: 'Nightingale' }
      const written = await call('POST', '/api/v1/hub/records', skill)
      if (written.status !== 201) throw new Error(written.text)
    },
  }
}
