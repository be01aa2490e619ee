import { insertContentKey } from '../../server/modules/cmek/content-keys-store.ts'
import { modeB } from '../cmek/mode-b-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/** Walks the statements of a tenant in Mode B: before, with, and after its keys. */
export async function walkCustomerKeys(hub: TestHub): Promise<void> {
  // The tenants of the walk have no keys of their own: a row each, of a key that is no more.
  const now = '2026-01-01T00:00:00.000000Z'
  const gone = { provider: 'local', key_ref: 'k', wrapped: null, state: 'destroyed' as const, event_id: null }
  const times = { created_at: now, wrapped_at: now, retired_at: null, destroyed_at: now }
  for (const slug of ['acme', 'globex']) {
    const key_id = `ck_${'0'.repeat(24)}`
    await hub.test.database.withTenant(slug, (tx) => insertContentKey(tx, { key_id, ...gone, ...times }))
  }
  const b = await modeB(hub, 'walked')
  const provision = () => b.call('POST', '/api/v1/hub/provision', { cmek: { provider: 'local', key_ref: 'k1' } })
  const records = '/api/v1/hub/records'
  await b.ready()
  const { record_id } = (await b.call('POST', records, { record_type: 'artifact', title: 'x' })).body
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'a' }] })
  await b.call('POST', '/api/v1/telemetry/events', event({ skill_id: 'sum', archetype_id: 'a' }))
  await b.call('POST', '/api/v1/hub/cmek:rotate', {})
  await b.call('PUT', '/api/v1/hub/retention-rules', { rules: [{ record_type: 'artifact', min_days: 1 }] })
  const destroy = () => b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'walked', reason: 'x' })
  await destroy()
  await b.call('PUT', '/api/v1/hub/retention-rules', { rules: [] })
  await destroy()
  await provision()
  const { record_id: next } = (
    await b.call('POST', records, { record_type: 'artifact', title: 'x', related_records: [record_id] })
  ).body
  await b.call('GET', `${records}?record_type=artifact`)
  await b.call('GET', `${records}/${next}/related`)
}
