import type { TestHub } from '../support/hub.ts'

const base = '/api/v1/skill-entitlement'

/** All that sends SQL about packs, grants and checks. */
export async function walkEntitlement(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const bundle = async (...ids: string[]) => {
    const archetypes = ids.map((archetype_id) => ({ archetype_id }))
    await call('PUT', '/api/v1/roster/archetypes', { archetypes })
  }
  const skill = (skill_id: string) => ({ skill_id, skill_version: '1.0.0', name: 'Walked', description: 'Walked' })
  const store = (id: string, skills: object[]) =>
    call('PUT', `${base}/coworks/${id}`, { name: 'Walked', skills, archetype_ids: ['packed', 'analyst'] })
  const apply = (id: string, body?: unknown) => call('POST', `${base}/coworks/${id}/apply`, body)

  await bundle('analyst', 'packed', 'leaver', 'walked')
  for (const id of ['pack-a', 'pack-b']) await store(id, [skill('packed-1'), skill('packed-2')])
  await apply('pack-a', { dry_run: true })
  for (const id of ['pack-a', 'pack-b']) await apply(id)
  await call('POST', `${base}/skills/packed-1:transition`, { state: 'deprecated' })
  await apply('pack-a')
  // One grant goes to the other pack, and when that loses it too, it ends.
  for (const id of ['pack-a', 'pack-b']) {
    await store(id, [skill('packed-1')])
    await apply(id)
  }
  await call('PUT', `${base}/archetypes/leaver/grants`, { skill_ids: ['packed-1', 'packed-2'] })
  await call('PUT', `${base}/archetypes/leaver/grants`, { skill_ids: ['packed-1'] })
  await call('GET', `${base}/archetypes/leaver/grants`)
  await call('GET', `${base}/coworks/pack-a/apply`)
  await call('GET', `${base}/skills/packed-1`)
  for (const path of ['coworks?limit=1', 'grants?limit=1', 'grants?limit=1&archetype_id=packed']) {
    const { next_cursor: cursor } = await call('GET', `${base}/${path}`)
    if (cursor) await call('GET', `${base}/${path}&cursor=${cursor}`)
  }
  await call('GET', `${base}/grants?skill_id=packed-1`)
  const checks = [{ user_id: `user:admin@${tenant}.example`, skill_id: 'packed-1' }]
  await call('POST', `${base}/check:batch`, { checks })
  await bundle('analyst', 'packed', 'walked')
  // What connectors and the health of the tenant ask for.
  await hub.test.database.withTenant(tenant, async (tx) => {
    await hub.modules.entitlement.grants.published(tx)
    await hub.modules.entitlement.grants.counts(tx)
  })
  const { versions } = await call('GET', `${base}/skills/packed-1`)
  await call('DELETE', `/api/v1/hub/records/${versions[0].record_id}?reason=done`)
  await hub.modules.hub.erasure.run(await hub.tenant(tenant), { asOf: '2999-01-01T00:00:00.000000Z' })
}
