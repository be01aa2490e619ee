import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { coworkPath, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent', 'counsel')
})
afterAll(() => hub.close())

const events = async (tenant: string, id: string) =>
  (await hub.events(tenant)).filter((event) => event.subject === `cowork:${id}`)

test('a pack is stored as it was sent, and nothing else happens', async () => {
  const skill = {
    ...packSkill('draft'),
    description: 'Drafts',
    owner: 'legal',
    manifest: { inputs: [{ b: 1.5 }, null] },
  }
  const { status, body } = await packs.put('legal', [skill, packSkill('sign')], ['counsel', 'agent'], 'Legal')
  expect(status).toBe(200)
  expect(body).toEqual({
    cowork_id: 'legal',
    name: 'Legal',
    skills: [skill, packSkill('sign')],
    archetype_ids: ['counsel', 'agent'],
    created_at: expect.stringMatching(moment),
    updated_at: body.created_at,
  })
  expect((await packs.call('GET', coworkPath('legal'))).body).toEqual(body)
  expect(await packs.grants()).toEqual([])
  expect((await packs.call('GET', '/api/v1/skill-entitlement/skills/draft')).status).toBe(404)
})

test('members stay in the order in which they were sent', async () => {
  const skill = { ...packSkill('ordered'), manifest: { zeta: 1, a: { second: 2, first: 1 }, mid: [] }, owner: 'legal' }
  const put = await packs.put('ordered', [skill], ['agent'])
  for (const { body } of [put, await packs.call('GET', coworkPath('ordered'))]) {
    expect(JSON.stringify(body.skills)).toBe(JSON.stringify([skill]))
  }
})

test('a change is one event with ids alone, a repetition none', async () => {
  const first = await packs.put('told', [packSkill('one')], ['agent'], 'Secret name')
  expect((await packs.put('told', [packSkill('one')], ['agent'], 'Secret name')).body).toEqual(first.body)
  const second = await packs.put('told', [{ ...packSkill('one', '1.1.0'), description: 'Secret words' }], [])
  expect(second.body.created_at).toBe(first.body.created_at)
  expect(second.body.updated_at > first.body.updated_at).toBe(true)
  const told = await events('acme', 'told')
  expect(told.map((event) => event.event_kind)).toEqual(['tenant.config_changed', 'tenant.config_changed'])
  const one = { skills: [{ skill_id: 'one', skill_version: '1.0.0' }], archetype_ids: ['agent'] }
  expect(told[0]?.details).toMatchObject({ change: 'cowork', before: {}, after: one })
  expect(told[1]?.details).toMatchObject({
    before: one,
    after: { skills: [{ skill_id: 'one', skill_version: '1.1.0' }], archetype_ids: [] },
  })
  expect(JSON.stringify(told)).not.toContain('Secret')
})

describe('refused with a pointer', () => {
  const good = { name: 'Pack', skills: [packSkill('one')], archetype_ids: ['agent'] }
  test.each<[string, unknown, string]>([
    ['no name', { ...good, name: undefined }, '/name'],
    ['an empty name', { ...good, name: '' }, '/name'],
    ['no skills', { ...good, skills: undefined }, '/skills'],
    ['no archetypes', { ...good, archetype_ids: undefined }, '/archetype_ids'],
    ['a skill without a name', { ...good, skills: [{ ...packSkill('one'), name: undefined }] }, '/skills/0/name'],
    ['a version that is none', { ...good, skills: [packSkill('one', 'v1')] }, '/skills/0/skill_version'],
    ['an id that is none', { ...good, skills: [packSkill('o ne')] }, '/skills/0/skill_id'],
    [
      'a manifest that is no object',
      { ...good, skills: [{ ...packSkill('one'), manifest: [] }] },
      '/skills/0/manifest',
    ],
    ['an unknown member', { ...good, skills: [{ ...packSkill('one'), colour: 'red' }] }, '/skills/0/colour'],
    ['a skill twice', { ...good, skills: [packSkill('one'), packSkill('one', '2.0.0')] }, '/skills/1/skill_id'],
    ['an archetype twice', { ...good, archetype_ids: ['agent', 'agent'] }, '/archetype_ids/1'],
    ['an archetype that the bundle lacks', { ...good, archetype_ids: ['agent', 'nobody'] }, '/archetype_ids/1'],
    ['too many skills', { ...good, skills: Array.from({ length: 1001 }, (_, i) => packSkill(`s${i}`)) }, '/skills'],
  ])('%s', async (_name, body, pointer) => {
    const answer = await packs.call('PUT', coworkPath('refused'), body)
    expect([answer.status, answer.body.errors?.map((error: { pointer: string }) => error.pointer)]).toEqual([
      400,
      [pointer],
    ])
    expect((await packs.call('GET', coworkPath('refused'))).status).toBe(404)
  })

  test('an id of a pack that is none', async () => {
    const answer = await packs.call('PUT', coworkPath('no%20id'), good)
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, '/path/cowork_id'])
  })
})

test('in Mode C a pack has no content', async () => {
  const modeC = packsOf(hub, 'cmode')
  await modeC.bundle('agent')
  const { status, body } = await modeC.put('c', [
    { ...packSkill('one'), owner: 'ops' },
    { ...packSkill('two'), description: 'x', manifest: {} },
  ])
  expect([status, body.type]).toEqual([400, `${hub.url}/errors/content-not-allowed`])
  expect(body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
    '/skills/1/description',
    '/skills/1/manifest',
  ])
  expect((await modeC.put('c', [{ ...packSkill('one'), owner: 'ops' }], ['agent'])).status).toBe(200)
})

test('in Mode B contents of packs wait for a key, are sealed under it, and go with it', async () => {
  const modeB = packsOf(hub, 'bmode')
  await modeB.bundle('agent')
  const manifest = { secret: true }
  const skill = {
    ...packSkill('one'),
    name: 'Secret one',
    owner: 'secrets',
    description: 'Very secret words',
    manifest,
  }
  const early = await modeB.put('b', [skill, packSkill('two')])
  expect([early.status, early.body.type]).toEqual([422, `${hub.url}/errors/hub-not-provisioned`])
  expect((await modeB.put('b', [packSkill('one')])).body.type).toBe(early.body.type)
  expect((await modeB.put('b', [])).status).toBe(200)

  const cmek = { provider: 'local', key_ref: 'main' }
  expect((await modeB.call('POST', '/api/v1/hub/provision', { cmek })).status).toBe(200)
  const stored = await modeB.put('b', [skill, packSkill('two')], ['agent'])
  expect(stored.body.skills).toEqual([skill, packSkill('two')])
  expect((await modeB.put('b', [skill, packSkill('two')], ['agent'])).body).toEqual(stored.body)
  const superuser = await hub.hub.superuserClient()
  const { rows } = await superuser.query("select skills::text as text from hub.coworks where tenant_id = 'bmode'")
  expect(rows).toHaveLength(1)
  expect(rows[0].text).toContain('"sealed"')
  expect(rows[0].text).not.toMatch(/secret/i)

  expect((await modeB.apply('b')).body.registered).toHaveLength(2)
  const skills = () =>
    hub.hub.test.database.withTenant('bmode', (tx) => hub.hub.modules.entitlement.grants.published(tx))
  expect(await skills()).toMatchObject([
    { skillId: 'one', name: 'Secret one', description: 'Very secret words', manifest: { secret: true } },
    { skillId: 'two' },
  ])

  const confirm = { reason: 'The contract ended.', confirm: 'bmode' }
  expect((await modeB.call('POST', '/api/v1/hub/cmek:destroy', confirm)).status).toBe(200)
  const gone = [packSkill('one'), packSkill('two')].map((each) => ({ ...each, name: '' }))
  expect((await modeB.call('GET', coworkPath('b'))).body.skills).toEqual(gone)
})

test('without token, scope or tenant nothing is stored', async () => {
  const body = { name: 'Pack', skills: [], archetype_ids: [] }
  const scopes = ['skill_entitlement:read', 'hub:write'] as const
  expect(await commonRejections(hub, 'PUT', coworkPath('legal'), { body, scopes })).toEqual(allRefused)
})
