import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/hub-client.ts'
import { syncPath, syncsPath } from '../roster-sync/sync-lab.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { type FakeScimSource, groupEntry, manyPeople, startScimSource } from '../support/scim-source.ts'

const people = 1000
const takenUpMsMax = 60_000

let hub: TestHub
let source: FakeScimSource
let credentials: { tenant: string; clientId: string; clientSecret: string }
const started: HubProcess[] = []

beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
  source = await startScimSource()
  source.users = manyPeople(people)
  source.groups = [groupEntry('Everybody', source.users)]
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'analyst' }] } })
  const account = { name: 'syncs', scopes: ['roster:read', 'roster:write'] as const }
  const made = await hub.modules.auth.serviceAccounts.create(await hub.tenant('acme'), account, { operator: 'test' })
  credentials = { tenant: 'acme', clientId: made.client_id, clientSecret: made.client_secret }
  const configured = await hub.call('acme', 'POST', '/api/v1/identity/scim/configure', {
    body: {
      mode: 'pull',
      base_url: source.baseUrl,
      bearer_token: source.token,
      group_archetype_map: [{ group: 'Everybody', archetype_id: 'analyst' }],
    },
  })
  expect(configured.status).toBeLessThan(300)
})
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop()
})
afterAll(async () => {
  await source.stop()
  await hub.stop()
  await removeDataDirectories()
})

/** Another process of the same service. */
async function startWorker(): Promise<{ process: HubProcess; client: HubClient }> {
  const process = await startHubProcess(await freshDataDirectory(), {
    HUB_DATABASE_URL: hub.test.url,
    HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
    HUB_OUTBOUND_ALLOW: '127.0.0.1',
    HUB_LIMIT_FACTOR: '1000',
  })
  started.push(process)
  return { process, client: new HubClient({ baseUrl: process.url, ...credentials }) }
}

test('a pull whose process is killed goes on from its page within a minute; everybody is there once', async () => {
  const first = await startWorker()
  // Only the first process is slow: it is killed in the middle of the people.
  source.faults.slowMs = 200
  source.pageMax = 50
  const { sync_id: syncId } = await first.client.post<{ sync_id: string }>(syncPath, { body: {} })
  while (!source.requests.some((line) => line.startsWith(`GET /Users?startIndex=${people / 2 + 1}&`))) await delay(20)
  process.kill(-first.process.pid, 'SIGKILL')
  started.length = 0
  const killedAt = Date.now()
  source.faults.slowMs = 0
  const askedBefore = source.requests.length

  const second = await startWorker()
  type Sync = { status: string; progress: { done: number; total: number } }
  const read = () => second.client.get<Sync>(`${syncsPath}/${syncId}`)
  await expect.poll(() => source.requests.length, { timeout: takenUpMsMax, interval: 100 }).toBeGreaterThan(askedBefore)
  expect(Date.now() - killedAt).toBeLessThan(takenUpMsMax)
  await expect.poll(async () => (await read()).status, { timeout: 60_000, interval: 100 }).toBe('completed')
  expect(await read()).toMatchObject({ added: people, updated: 0, deactivated: 0, unmatched: 0, skipped: 0 })
  const starts = source.requests.slice(askedBefore).map((line) => /^GET \/Users\?startIndex=(\d+)/.exec(line)?.[1])
  expect(starts.filter((start) => start !== undefined && Number(start) < people / 2 - 49)).toEqual([])
  const superuser = await hub.superuserClient()
  const counted = async (from: string) =>
    (await superuser.query(`select count(*)::int as n from ${from} where tenant_id = 'acme'`)).rows[0].n
  expect(await counted('hub.directory_users')).toBe(people)
  expect(await counted('hub.user_archetypes')).toBe(people)
  expect(await counted('hub.directory_members')).toBe(people)
})
