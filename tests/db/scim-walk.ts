import { setTimeout as delay } from 'node:timers/promises'
import { externalIdsOf, insertEntries } from '../../server/modules/roster/sync/sync-entries-store.ts'
import { waitingSync } from '../roster-sync/waiting-sync.ts'
import type { TestHub } from '../support/hub.ts'
import { groupEntry, manyPeople, startScimSource } from '../support/scim-source.ts'

const path = '/api/v1/identity/scim'
const syncs = '/api/v1/roster/scim-syncs'

/** All that sends SQL about how a directory is connected, and read. The Hub must be let out to 127.0.0.1. */
export async function walkScim(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const source = await startScimSource({ users: manyPeople(3) })
  const { connections: scimConnections } = hub.modules.scimAccess
  const { sync } = hub.modules.roster
  try {
    await must(hub, tenant, 'POST', `${path}/configure`, { mode: 'push' })
    await must(hub, tenant, 'POST', `${path}:rotate-token`)
    scimConnections.noteRequest(await hub.tenant(tenant))
    await hub.modules.scimAccess.connections.settled()
    await scimConnections.admits(await hub.tenant(tenant), 'some token')
    await run(hub, tenant)
    const pull = { mode: 'pull', base_url: source.baseUrl, bearer_token: source.token }
    await must(hub, tenant, 'POST', `${path}/configure`, pull)
    await must(hub, tenant, 'POST', `${path}:test`)
    // Two who claim one external id, and a group.
    source.users.push({ ...source.users[0], id: 'rival', userName: 'rival' })
    source.groups.push(groupEntry('Everybody', source.users))
    await run(hub, tenant)
    source.users.length = 2
    source.groups.length = 0
    await run(hub, tenant)
    for (let round = 0; round < 2; round += 1) {
      source.faults.answer = () => ({ status: 401 })
      await run(hub, tenant)
    }
    source.faults = {}
    for (const action of [':confirm', ':cancel']) {
      await must(hub, tenant, 'POST', `${syncs}/${await waitingSync(hub, tenant)}${action}`)
    }
    const { next_cursor: cursor } = await must(hub, tenant, 'GET', `${syncs}?limit=1`)
    await must(hub, tenant, 'GET', `${syncs}?limit=1&cursor=${cursor}`)
    await must(hub, tenant, 'GET', '/api/v1/roster/scim:sync')
    await hub.test.database.withTenant(tenant, async (tx) => {
      await sync.lastSynced.lastSyncedAt(tx)
      await externalIdsOf(tx, 'sync_x', 'user', ['x'])
    })
    for (const chore of sync.chores) await hub.test.database.withTenant(tenant, (tx) => chore.run(tx))
    const signal = new AbortController().signal
    await sync.jobs.find(({ name }) => name === 'roster-syncs-due')?.handler({ data: {}, signal })
    await sync.jobs.find(({ name }) => name === 'settle-archetypes')?.handler({ data: { tenant, after: '' }, signal })
    await must(hub, tenant, 'DELETE', `${path}/configure`)
    // Some rows are to be there at the end.
    await must(hub, tenant, 'POST', `${path}/configure`, { mode: 'push' })
    await hub.test.database.withTenant(tenant, (tx) =>
      insertEntries(tx, 'sync_x', 'user', [{ sourceId: 'x', externalId: 'x' }]),
    )
  } finally {
    await source.stop()
  }
}

async function run(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const { sync_id: id } = await must(hub, tenant, 'POST', '/api/v1/roster/scim:sync')
  const isUnderWay = async () => /queued|running/.test((await must(hub, tenant, 'GET', `${syncs}/${id}`)).status)
  while (await isUnderWay()) await delay(25)
}

async function must(hub: TestHub, tenant: 'acme' | 'globex', method: string, address: string, body?: unknown) {
  const answer = await hub.call(tenant, method, address, body === undefined ? {} : { body })
  if (answer.status >= 300) throw new Error(`${method} ${address}: ${answer.text}`)
  return answer.body
}
