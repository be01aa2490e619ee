import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rosterPullTriesMax, rosterSyncsAtOnce } from '../../contract/limits.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { configurePath, type SyncLab, startSyncLab, syncPath, syncsPath } from '../roster-sync/sync-lab.ts'
import { scaled } from '../support/machine-speed.ts'
import { type FakeScimSource, manyPeople, startScimSource } from '../support/scim-source.ts'

interface Sync {
  sync_id: string
  status: string
  added: number
  error?: { detail: string }
}

let lab: SyncLab
/** Of tenants that are more than the syncs that are done side by side. */
let others: HubClient[]
/** What they read. */
let source: FakeScimSource

beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(50)
  await lab.connect('acme')
  source = await startScimSource({ users: manyPeople(3, 'others.example') })
  const slugs = Array.from({ length: 2 * rosterSyncsAtOnce + 2 }, (_, index) => `other-${index}`)
  others = await Promise.all(slugs.map(makeTenant))
})
afterAll(async () => {
  await source.stop()
  await lab.close()
})
afterEach(() => {
  source.faults = {}
  lab.source.faults = {}
})

async function makeTenant(slug: string): Promise<HubClient> {
  const { modules, baseUrl } = lab.hub
  const by = { operator: 'test' }
  await modules.tenants.administration.create({ slug, mode: 'A', adminEmail: `admin@${slug}.example` }, by)
  const tenant = (await modules.tenants.directory.read(slug))!
  const account = { name: 'all', scopes: [...scopeNames] }
  const { client_id, client_secret } = await modules.auth.serviceAccounts.create(tenant, account, by)
  const client = new HubClient({ baseUrl, tenant: slug, clientId: client_id, clientSecret: client_secret })
  const pull = { mode: 'pull', base_url: source.baseUrl, bearer_token: source.token }
  await client.post(configurePath, { body: pull })
  return client
}

const start = async (client: HubClient) => (await client.post<Sync>(syncPath)).sync_id
const look = (client: HubClient, syncId: string) => client.get<Sync>(`${syncsPath}/${syncId}`)
async function ended(client: HubClient, syncId: string): Promise<Sync> {
  for (;;) {
    const sync = await look(client, syncId)
    if (['completed', 'failed', 'cancelled'].includes(sync.status)) return sync
    await delay(100)
  }
}

test.each([
  ['are slow to answer', { slowMs: 29_000 }],
  ['ask for patience', { answer: () => ({ status: 503, headers: { 'retry-after': '600' } }) }],
])('more directories than places that %s keep no other waiting', async (_name, faults) => {
  source.faults = faults
  const answered = source.answers
  const ids = await Promise.all(others.map(start))
  await lab.sync('acme')
  const states = await Promise.all(others.map((client, at) => look(client, ids[at]!)))
  expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['running']))
  for (const [at, client] of others.entries()) await client.post(`${syncsPath}/${ids[at]}:cancel`)
  // Nobody waits for those that ended.
  await lab.sync('acme')
  if ('slowMs' in faults) expect(source.answers).toBe(answered)
})

test('a sync of several turns asks for each page once', async () => {
  lab.source.users = manyPeople(150)
  lab.source.pageMax = 10
  lab.source.faults = { slowMs: 300 }
  const from = lab.source.requests.length
  const { sync_id: syncId } = await lab.sync('acme')
  const asked = lab.source.requests.slice(from).filter((line) => line.startsWith('GET /Users?'))
  expect(asked).toEqual(Array.from({ length: 15 }, (_, page) => `GET /Users?startIndex=${page * 10 + 1}&count=200`))
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query('select attempt from hub.roster_syncs where sync_id = $1', [syncId])
  expect(rows[0].attempt).toBeGreaterThan(2)
})

test('a slow directory is read among slow ones, and one that keeps failing ends', async () => {
  const [slow, failing] = others as [HubClient, HubClient]
  source.faults = { slowMs: 2500 }
  const slowSync = await start(slow)
  await expect
    .poll(() => source.requests.filter((line) => line.startsWith('GET /Groups')).length, { timeout: scaled(40_000) })
    .toBeGreaterThan(0)
  expect(await ended(slow, slowSync)).toMatchObject({ status: 'completed', added: 3 })

  source.faults = { answer: () => ({ status: 503 }) }
  const from = source.requests.length
  const failed = await ended(failing, await start(failing))
  expect([failed.status, failed.error?.detail]).toEqual(['failed', expect.stringContaining('This happened 6 times.')])
  expect(source.requests.length - from).toBe(rosterPullTriesMax)
})
