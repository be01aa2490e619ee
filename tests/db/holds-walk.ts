import type { TestHub } from '../support/hub.ts'

const holds = '/api/v1/hub/legal-holds'
const retention = '/api/v1/hub/retention-rules'
const records = '/api/v1/hub/records'

/** All that sends SQL about legal holds, releases and retention, before and after records are purged. */
export async function walkHolds(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const artifact = async () => (await call('POST', records, { record_type: 'artifact', title: 'Held' })).record_id
  const matter = { name: 'Case 17', reason: 'Litigation' }
  const rules = [{ record_type: 'artifact', min_days: 0, max_days: 10_000 }]
  await call('PUT', retention, { rules, four_eyes: true })
  await call('GET', retention)

  const [active, purged] = [await artifact(), await artifact()]
  await call('DELETE', `${records}/${purged}?reason=done`)
  const named = await call('POST', holds, { ...matter, record_ids: [active, purged] })
  const filtered = await call('POST', holds, { ...matter, filter: { record_type: ['artifact'] } })
  await hub.call(tenant, 'DELETE', `${records}/${active}?reason=done`)
  for (const parameters of ['', '?active=true', '?active=false', '?limit=1']) await call('GET', `${holds}${parameters}`)
  // With four eyes: whoever purged does not release, and whoever released does not purge.
  await hub.call(tenant, 'POST', `${holds}/${named.hold_id}:release`, { body: { reason: 'Settled' } })
  const other = await call('POST', holds, { ...matter, record_ids: [active] })
  await call('POST', `${holds}/${other.hold_id}:release`, { reason: 'Settled' })
  await call('PUT', retention, { rules, four_eyes: false })
  for (const { hold_id } of [named, filtered]) {
    await call('GET', `${holds}/${hold_id}`)
    for (let round = 0; round < 2; round += 1) await call('POST', `${holds}/${hold_id}:release`, { reason: 'Settled' })
  }
  await call('GET', `${records}?verify=true&include_purged=true`)
  await hub.call(tenant, 'DELETE', `${records}/${active}?reason=done`)

  const { record_id: event } = await call('POST', records, { record_type: 'governance_event', event_kind: 'custom.x' })
  for (let round = 0; round < 2; round += 1) {
    await call('POST', `${records}/${event}/legal-hold-releases`, { reason: 'done' })
  }
  const { next_cursor: cursor } = await call('GET', `${records}/${event}/legal-hold-releases?limit=1`)
  await call('GET', `${records}/${event}/legal-hold-releases?limit=1&cursor=${cursor}`)
  await call('PUT', retention, { rules: [], four_eyes: false })
  await call('PUT', retention, { rules })
}
