import { setTimeout as delay } from 'node:timers/promises'
import { eventsOf, type GovernanceEventRecord } from '../auth/auth-lab.ts'
import { type Answer, startHub, type TestHub, type TestHubOptions, type TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { type FakeScimSource, startScimSource } from '../support/scim-source.ts'

export const configurePath = '/api/v1/identity/scim/configure'
export const syncPath = '/api/v1/roster/scim:sync'
export const syncsPath = '/api/v1/roster/scim-syncs'

/** The Hub, and a directory that it may read. */
export interface SyncLab {
  hub: TestHub
  source: FakeScimSource
  /** Has the tenant read the directory; must succeed. */
  connect(tenant: TestTenant, map?: readonly { group: string; archetype_id: string }[]): Promise<void>
  start(tenant: TestTenant): Promise<string>
  /** Waits for it to be in one of these states. */
  reaches(tenant: TestTenant, syncId: string, ...states: string[]): Promise<Answer['body']>
  /** One sync from beginning to end; where it ends otherwise than completed, that is an error. */
  sync(tenant: TestTenant): Promise<Answer['body']>
  users(tenant: TestTenant, query?: string): Promise<Answer['body'][]>
  events(tenant: TestTenant, kind: string): Promise<GovernanceEventRecord[]>
  close(): Promise<void>
}

export async function startSyncLab(options: TestHubOptions = {}): Promise<SyncLab> {
  const hub = await startHub({ ...options, settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1', ...options.settings } })
  const source = await startScimSource()

  async function must(tenant: TestTenant, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await hub.call(tenant, method, path, body === undefined ? {} : { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  const start = async (tenant: TestTenant) => (await must(tenant, 'POST', syncPath)).body.sync_id as string
  async function reaches(tenant: TestTenant, syncId: string, ...states: string[]): Promise<Answer['body']> {
    for (const endsAtMs = performance.now() + scaled(30_000); ; await delay(25)) {
      const { body } = await must(tenant, 'GET', `${syncsPath}/${syncId}`)
      if (states.includes(body.status)) return body
      if (['completed', 'failed', 'cancelled'].includes(body.status) || performance.now() > endsAtMs) {
        throw new Error(`the sync is not ${states}: ${JSON.stringify(body)}`)
      }
    }
  }

  return {
    hub,
    source,
    async connect(tenant, map = []) {
      const ids = [...new Set(map.map((entry) => entry.archetype_id))]
      const archetypes = ids.map((archetype_id) => ({ archetype_id }))
      if (ids.length > 0) await must(tenant, 'PUT', '/api/v1/roster/archetypes', { archetypes })
      const pull = { mode: 'pull', base_url: source.baseUrl, bearer_token: source.token, group_archetype_map: map }
      await must(tenant, 'POST', configurePath, pull)
    },
    start,
    reaches,
    sync: async (tenant) => reaches(tenant, await start(tenant), 'completed'),
    async users(tenant, query = '') {
      const items: Answer['body'][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: string = `/api/v1/roster/users?limit=1000${query}${cursor ? `&cursor=${cursor}` : ''}`
        const { body } = await must(tenant, 'GET', page)
        items.push(...body.items)
        cursor = body.next_cursor
      }
      return items
    },
    events: async (tenant, kind) =>
      (await eventsOf(hub.test.database, tenant)).filter((event) => event.event_kind === kind),
    async close() {
      await source.stop()
      await hub.stop()
    },
  }
}
