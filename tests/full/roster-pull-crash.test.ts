import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { configurePath, syncPath, syncsPath } from '../roster-sync/sync-lab.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { type FakeScimSource, groupEntry, manyPeople, startScimSource } from '../support/scim-source.ts'

const people = 600
const pageSize = 50
const kills = 2
const takenUpMsMax = scaled(60_000)

interface Sync {
  sync_id: string
  status: string
  progress: { done: number }
  error?: unknown
}

let source: FakeScimSource
let hub: HubProcess | undefined

beforeAll(async () => {
  const users = manyPeople(people)
  source = await startScimSource({ users, groups: [groupEntry('Everybody', users)] })
})
afterEach(async ({ task }) => {
  await hub?.stop()
  if (task.result?.state === 'fail') process.stdout.write(hub?.output() ?? '')
})
afterAll(async () => {
  await source.stop()
  await removeDataDirectories()
})

test(`kill -9 of everything in the middle of a pull, ${kills} times`, async () => {
  const dataDir = await freshDataDirectory()
  const env = { HUB_OUTBOUND_ALLOW: '127.0.0.1', HUB_LIMIT_FACTOR: '1000' }
  hub = await startHubProcess(dataDir, env)
  const credentials = await makeTenant(dataDir, 'acme', 'connector:admin roster:read roster:write hub:read')
  const connect = ({ url }: HubProcess) => new HubClient({ baseUrl: url, ...credentials })
  let client = connect(hub)
  const map = [{ group: 'Everybody', archetype_id: 'analyst' }]
  const pull = { mode: 'pull', base_url: source.baseUrl, bearer_token: source.token, group_archetype_map: map }
  await client.post(configurePath, { body: pull })
  source.pageMax = pageSize
  source.faults = { slowMs: 300 }
  const from = source.requests.length
  const { sync_id: syncId } = await client.post<Sync>(syncPath)
  const look = () => client.get<Sync>(`${syncsPath}/${syncId}`)
  const until = async (isSo: (sync: Sync) => boolean): Promise<Sync> => {
    for (const endsAtMs = Date.now() + takenUpMsMax; ; await delay(50)) {
      const sync = await look()
      if (isSo(sync)) return sync
      if (Date.now() > endsAtMs || ['failed', 'cancelled'].includes(sync.status)) throw new Error(JSON.stringify(sync))
    }
  }

  let done = 0
  for (let round = 0; round < kills; round += 1) {
    // Each time it has come further than before, and is in the middle of a page.
    done = (await until(({ progress }) => progress.done >= done + 2 * pageSize)).progress.done
    await source.nextRequest('/Users')
    await hub.killEverything()
    hub = await startHubProcess(dataDir, env)
    client = connect(hub)
    expect((await look()).progress.done).toBeGreaterThanOrEqual(done)
  }
  const sync = await until(({ status }) => status === 'completed')
  expect(sync).toMatchObject({ added: people, updated: 0, deactivated: 0, unmatched: 0, skipped: 0 })

  // Only the page that was being read when everything died was asked for again.
  const asked = source.requests.slice(from).filter((line) => line.startsWith('GET /Users?'))
  const pages = Array.from({ length: people / pageSize }, (_, page) => page * pageSize + 1)
  expect([...new Set(asked)].map((line) => Number(/startIndex=(\d+)/.exec(line)?.[1])).sort((a, b) => a - b)).toEqual(
    pages,
  )
  expect(asked.length).toBeLessThanOrEqual(pages.length + kills)
  const { items } = await client.get<{ items: { source: string }[] }>('/api/v1/roster/users?limit=1000')
  expect(items.filter((user) => user.source === 'directory')).toHaveLength(people)
  const events = await client.get<{ records: unknown[] }>('/api/v1/hub/records?event_kind=roster.scim_sync_completed')
  expect(events.records).toHaveLength(1)
})
