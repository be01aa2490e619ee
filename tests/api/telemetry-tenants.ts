import type { TestHub, TestTenant } from '../support/hub.ts'

/** Gives tenants the archetype and the skill that `event()` names. */
export async function prepareTelemetry(hub: TestHub, ...tenants: TestTenant[]): Promise<void> {
  for (const tenant of tenants) {
    const archetypes = await hub.call(tenant, 'PUT', '/api/v1/roster/archetypes', {
      body: { archetypes: [{ archetype_id: 'analyst' }] },
    })
    if (archetypes.status !== 200) throw new Error(archetypes.text)
    await registerSkill(hub, tenant, 'sum-up')
  }
}

export async function registerSkill(hub: TestHub, tenant: TestTenant, skillId: string): Promise<void> {
  const skill = await hub.call(tenant, 'POST', '/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: skillId, skill_version: '1.0.0', name: skillId },
  })
  if (skill.status !== 201) throw new Error(skill.text)
}

/** Ids of all telemetry of a tenant, as it is read back. */
export async function telemetryIds(hub: TestHub, tenant: TestTenant): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const query: string = `record_type=telemetry_event&limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`
    const page = await hub.call(tenant, 'GET', `/api/v1/hub/records?${query}`)
    if (page.status !== 200) throw new Error(page.text)
    for (const record of page.body.records) ids.push(record.record_id)
    cursor = page.body.next_cursor
  } while (cursor)
  return ids
}
