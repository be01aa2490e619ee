import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'
import { base, coworkPath, packSkill, packsOf } from './packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent', 'counsel')
})
afterAll(() => hub.close())

const grantsOf = (tenant: string) => {
  const { database } = hub.hub.test
  const { grants } = hub.hub.modules.entitlement
  return {
    published: () => database.withTenant(tenant, (tx) => grants.published(tx)),
    counts: () => database.withTenant(tenant, (tx) => grants.counts(tx)),
  }
}
const versionOf = async (skillId: string) => {
  const skill = (await grantsOf('acme').published()).find((found) => found.skillId === skillId)
  return skill?.skillVersion
}
const recordOf = async (skillId: string, version: string): Promise<string> => {
  const { versions } = await packs.skill(skillId)
  return versions.find((found: { skill_version: string }) => found.skill_version === version).record_id
}

test('published skills come with their record, content and grants, in the order of their ids', async () => {
  const drafted = { ...packSkill('draft', '1.2.0'), description: 'Drafts', owner: 'legal', manifest: { inputs: ['x'] } }
  await packs.put('legal', [drafted, packSkill('Sign')], ['counsel', 'agent'])
  await packs.apply('legal')
  await packs.register('unpublished')
  const recordId = await recordOf('draft', '1.2.0')
  const record = (await packs.call('GET', `/api/v1/hub/records/${recordId}`)).body
  expect(await grantsOf('acme').published()).toEqual([
    expect.objectContaining({ skillId: 'Sign', archetypeIds: ['agent', 'counsel'] }),
    {
      skillId: 'draft',
      skillVersion: '1.2.0',
      name: 'Skill draft',
      description: 'Drafts',
      recordId,
      provenanceHash: record.provenance_hash,
      manifest: { inputs: ['x'] },
      archetypeIds: ['agent', 'counsel'],
    },
  ])
  expect(await grantsOf('acme').counts()).toEqual({ published: 2, granted: 2, grants: 4 })
  expect(await grantsOf('globex').published()).toEqual([])
  expect(await grantsOf('globex').counts()).toEqual({ published: 0, granted: 0, grants: 0 })
})

test('the version published last is distributed; one that is purged gives way to the one before', async () => {
  for (const version of ['1.0.0', '1.1.0']) {
    await packs.register('moving', version)
    await packs.transition('moving', 'published')
  }
  await packs.register('moving', '2.0.0')
  expect(await versionOf('moving')).toBe('1.1.0')
  const purge = async (version: string) => {
    const path = `/api/v1/hub/records/${await recordOf('moving', version)}`
    expect((await packs.call('DELETE', `${path}?reason=wrong`)).status).toBe(200)
    return () => packs.call('POST', `${path}:restore`)
  }
  const restore = await purge('1.1.0')
  expect(await versionOf('moving')).toBe('1.0.0')
  await purge('1.0.0')
  expect(await versionOf('moving')).toBeUndefined()
  await restore()
  expect(await versionOf('moving')).toBe('1.1.0')
  await packs.transition('moving', 'deprecated')
  expect(await versionOf('moving')).toBeUndefined()
})

test('what an erased definition said is forgotten by packs, and its version stays known', async () => {
  const secret = { description: 'Secret words', owner: 'Secret owner', manifest: { secret: true } }
  const skill = { ...packSkill('erased'), name: 'Secret name', ...secret }
  await packs.put('forgetful', [skill, packSkill('kept')], ['agent'])
  await packs.put('bystander', [{ ...skill, skill_version: '2.0.0' }], [])
  await packs.apply('forgetful')
  await packs.call('DELETE', `/api/v1/hub/records/${await recordOf('erased', '1.0.0')}?reason=old`)
  await hub.hub.modules.hub.erasure.run(await hub.hub.tenant('acme'), { asOf: '2999-01-01T00:00:00.000000Z' })

  const { body } = await packs.call('GET', coworkPath('forgetful'))
  expect(body.skills).toEqual([{ skill_id: 'erased', skill_version: '1.0.0', name: '' }, packSkill('kept')])
  expect((await packs.call('GET', coworkPath('bystander'))).body.skills[0].name).toBe('Secret name')
  expect((await packs.apply('forgetful')).body).toMatchObject({ registered: [], unchanged: true })
  expect(await versionOf('erased')).toBeUndefined()
  expect(await versionOf('kept')).toBe('1.0.0')
})

test('archetypes that leave the bundle lose their grants, with one event', async () => {
  const other = packsOf(hub, 'cmode')
  await other.bundle('agent', 'leaver', 'quiet')
  await other.put('all', [packSkill('one'), packSkill('two')], ['agent', 'leaver'])
  await other.apply('all')
  await other.bundle('agent', 'leaver')
  expect(await other.changes('tenant:cmode')).toEqual([])
  await other.bundle('agent')
  expect(await other.grants()).toEqual(['agent one all', 'agent two all'])
  const [event, ...more] = await other.changes('tenant:cmode')
  expect(more).toEqual([])
  expect(event?.details).toMatchObject({
    change: 'archetypes_removed',
    granted: [],
    revoked: ['one', 'two'].map((skill_id) => ({ archetype_id: 'leaver', skill_id })),
    revoked_count: 2,
  })
  expect((await other.call('GET', `${base}/archetypes/leaver/grants`)).status).toBe(404)
})
