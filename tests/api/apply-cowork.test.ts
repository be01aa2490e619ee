import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { applyPath, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent', 'counsel', 'chief')
})
afterAll(() => hub.close())

const slugOf = (type: string) => type.split('/').at(-1)

test('a pack is registered, published and granted in one go, with one event', async () => {
  const drafted = {
    ...packSkill('draft', '2.0.0'),
    description: 'Drafts',
    owner: 'legal',
    manifest: { inputs: ['text'] },
  }
  expect((await packs.put('legal', [drafted, packSkill('sign')], ['counsel', 'agent'])).status).toBe(200)
  const { status, body } = await packs.apply('legal')
  expect(status).toBe(200)
  expect(body).toEqual({
    cowork_id: 'legal',
    dry_run: false,
    archetype_ids: ['agent', 'counsel'],
    skill_ids: ['draft', 'sign'],
    registered: [
      { skill_id: 'draft', skill_version: '2.0.0' },
      { skill_id: 'sign', skill_version: '1.0.0' },
    ],
    published: ['draft', 'sign'],
    granted: [
      { archetype_id: 'agent', skill_id: 'draft' },
      { archetype_id: 'agent', skill_id: 'sign' },
      { archetype_id: 'counsel', skill_id: 'draft' },
      { archetype_id: 'counsel', skill_id: 'sign' },
    ],
    revoked: [],
    unchanged: false,
    applied_at: expect.stringMatching(moment),
  })
  const events = await packs.changes('cowork:legal')
  expect(events).toHaveLength(1)
  expect(events[0]?.details).toMatchObject({
    change: 'cowork_applied',
    registered: body.registered,
    published: body.published,
    granted: body.granted,
    granted_count: 4,
    revoked_count: 0,
    actor: expect.stringMatching(/^sa/),
  })

  const skill = await packs.skill('draft')
  expect(skill).toMatchObject({ state: 'published', versions: [{ skill_version: '2.0.0', state: 'published' }] })
  const record = await hub.call('acme', 'GET', `/api/v1/hub/records/${skill.versions[0].record_id}?verify=true`)
  expect(record.body).toMatchObject({
    record_type: 'skill_definition',
    ...drafted,
    created_by: events[0]?.details.actor,
    verification: { verified: true },
  })
})

test('applying it again changes nothing and writes nothing', async () => {
  await packs.put('again', [packSkill('again')], ['agent'])
  const first = await packs.apply('again')
  const records = async () => (await packs.call('GET', '/api/v1/hub/records?limit=1000')).body.records.length
  const before = await records()
  for (const body of [undefined, {}, { archetype_ids: ['agent'] }, { dry_run: false }]) {
    const again = await packs.apply('again', body)
    expect(again.status).toBe(200)
    expect(again.body).toEqual({
      ...first.body,
      ...{ registered: [], published: [], granted: [], unchanged: true },
    })
  }
  expect(await records()).toBe(before)
})

test('a dry run answers the same and does nothing', async () => {
  await packs.put('dry', [packSkill('dry')], ['agent'])
  const records = async () => (await packs.call('GET', '/api/v1/hub/records?limit=1000')).body.records.length
  const [before, grants] = [await records(), await packs.grants()]
  const dry = await packs.apply('dry', { dry_run: true })
  expect(dry.status).toBe(200)
  expect(await records()).toBe(before)
  expect(await packs.grants()).toEqual(grants)
  expect((await packs.call('GET', '/api/v1/skill-entitlement/skills/dry')).status).toBe(404)
  expect((await packs.call('GET', applyPath('dry'))).status).toBe(404)
  const { applied_at, ...wet } = (await packs.apply('dry')).body
  expect(wet).toEqual({ ...dry.body, dry_run: false })
})

test('archetypes of the call take the place of those of the pack', async () => {
  await packs.put('moved', [packSkill('moved')], ['agent'])
  await packs.apply('moved')
  const { body } = await packs.apply('moved', { archetype_ids: ['chief'] })
  expect(body).toMatchObject({
    granted: [{ archetype_id: 'chief', skill_id: 'moved' }],
    revoked: [{ archetype_id: 'agent', skill_id: 'moved' }],
  })
  expect((await packs.grants()).filter((grant) => grant.includes('moved'))).toEqual(['chief moved moved'])
  expect((await packs.apply('moved', { archetype_ids: [] })).body.revoked).toHaveLength(1)
})

test('what a pack has lost is taken again, unless somebody else gave it', async () => {
  await packs.register('by-hand')
  await packs.transition('by-hand', 'published')
  await packs.grant('chief', ['by-hand'])
  await packs.put('first', [packSkill('by-hand'), packSkill('shared'), packSkill('own')], ['chief'])
  await packs.put('second', [packSkill('shared')], ['chief'])
  await packs.apply('first')
  await packs.apply('second')
  await packs.put('first', [], ['chief'])
  expect((await packs.apply('first')).body).toMatchObject({
    revoked: [{ archetype_id: 'chief', skill_id: 'own' }],
    unchanged: false,
  })
  const left = (await packs.grants()).filter((grant) => /by-hand|shared|own/.test(grant))
  expect(left).toEqual(['chief by-hand', 'chief shared second'])
  await packs.put('second', [], ['chief'])
  expect((await packs.apply('second')).body.revoked).toEqual([{ archetype_id: 'chief', skill_id: 'shared' }])
})

test('a version of the pack is published, and drafts that it does not name stay drafts', async () => {
  await packs.register('versions', '1.0.0')
  await packs.register('versions', '3.0.0-beta')
  await packs.put('versions', [packSkill('versions', '2.0.0')], [])
  const { body } = await packs.apply('versions')
  expect(body).toMatchObject({ registered: [{ skill_version: '2.0.0' }], published: ['versions'] })
  const states = async () =>
    (await packs.skill('versions')).versions.map((version: { skill_version: string; state: string }) => [
      version.skill_version,
      version.state,
    ])
  expect(await states()).toEqual([
    ['1.0.0', 'draft'],
    ['3.0.0-beta', 'draft'],
    ['2.0.0', 'published'],
  ])
  await packs.transition('versions', 'deprecated')
  expect((await packs.apply('versions')).body).toMatchObject({ registered: [], published: ['versions'] })
  expect((await packs.skill('versions')).state).toBe('published')
})

test('a retired skill is 422 with a pointer into the pack, and nothing is applied', async () => {
  await packs.register('gone')
  for (const state of ['published', 'deprecated', 'retired']) await packs.transition('gone', state)
  await packs.put('with-gone', [packSkill('fresh'), packSkill('gone')], ['agent'])
  for (const body of [undefined, { dry_run: true }]) {
    const answer = await packs.apply('with-gone', body)
    expect([answer.status, slugOf(answer.body.type)]).toEqual([422, 'skill-not-registered'])
    expect(answer.body.errors).toEqual([{ pointer: '/skills/1/skill_id', detail: expect.stringContaining('gone') }])
  }
  expect((await packs.call('GET', '/api/v1/skill-entitlement/skills/fresh')).status).toBe(404)
})

describe('refused with a pointer', () => {
  test.each([
    [{ archetype_ids: ['agent', 'nobody'] }, '/archetype_ids/1'],
    [{ archetype_ids: ['agent', 'agent'] }, '/archetype_ids/1'],
    [{ archetype_ids: ['no good'] }, '/archetype_ids/0'],
    [{ archetype_ids: 'agent' }, '/archetype_ids'],
    [{ dry_run: 'yes' }, '/dry_run'],
    [{ force: true }, '/force'],
    [[], ''],
  ])('%j', async (body, pointer) => {
    await packs.put('refused', [packSkill('refused')], ['agent'])
    const answer = await packs.apply('refused', body)
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, pointer])
  })

  test('an archetype of the pack that has left the bundle', async () => {
    await packs.bundle('agent', 'counsel', 'chief', 'leaver')
    await packs.put('left', [packSkill('left')], ['agent', 'leaver'])
    await packs.bundle('agent', 'counsel', 'chief')
    const answer = await packs.apply('left')
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, '/archetype_ids/1'])
    expect((await packs.apply('left', { archetype_ids: ['agent'] })).status).toBe(200)
  })
})

test('an unknown pack, another tenant’s or no id at all is not found', async () => {
  await packs.put('only-acme', [], [])
  const other = packsOf(hub, 'globex')
  const answers = [
    await packs.apply('nothing'),
    await other.apply('only-acme'),
    await packs.apply('%20'),
    await packs.apply('a'.repeat(200)),
  ]
  expect(answers.map(({ status, body }) => [status, slugOf(body.type)])).toEqual(Array(4).fill([404, 'not-found']))
})

test('a tenant in Mode B is told to provision first, and one in Mode C needs no content', async () => {
  const modeB = packsOf(hub, 'bmode')
  await modeB.bundle('agent')
  await modeB.put('plain', [], ['agent'])
  for (const body of [undefined, { dry_run: true }]) {
    const answer = await modeB.apply('plain', body)
    expect([answer.status, slugOf(answer.body.type)]).toEqual([422, 'hub-not-provisioned'])
  }
  const modeC = packsOf(hub, 'cmode')
  await modeC.bundle('agent')
  await modeC.put('plain', [{ ...packSkill('plain'), owner: 'ops' }], ['agent'])
  const { body } = await modeC.apply('plain')
  expect(body.granted).toEqual([{ archetype_id: 'agent', skill_id: 'plain' }])
})

test('a pack whose names are gone with the key registers nothing until it is stored again', async () => {
  const modeB = packsOf(hub, 'bmode')
  const provision = { cmek: { provider: 'local', key_ref: 'main' } }
  expect((await modeB.call('POST', '/api/v1/hub/provision', provision)).status).toBe(200)
  await modeB.put('left', [packSkill('left-1'), packSkill('left-2')], ['agent'])
  const destroyed = await modeB.call('POST', '/api/v1/hub/cmek:destroy', { reason: 'over', confirm: 'bmode' })
  expect(destroyed.status).toBe(200)
  expect((await modeB.call('POST', '/api/v1/hub/provision', provision)).status).toBe(200)
  const refused = await modeB.apply('left')
  expect([refused.status, slugOf(refused.body.type)]).toEqual([400, 'validation-failed'])
  expect(refused.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
    '/skills/0/name',
    '/skills/1/name',
  ])
  await modeB.put('left', [packSkill('left-1'), packSkill('left-2')], ['agent'])
  expect((await modeB.apply('left')).body.registered).toHaveLength(2)
})

test('two applications at once are both right', async () => {
  await packs.put('race-a', [packSkill('race-1'), packSkill('race-2')], ['agent', 'chief'])
  await packs.put('race-b', [packSkill('race-2'), packSkill('race-1')], ['chief', 'agent'])
  const answers = await Promise.all(['race-a', 'race-b', 'race-a', 'race-b', 'race-a'].map((id) => packs.apply(id)))
  expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(200))
  expect(answers.flatMap((answer) => answer.body.granted)).toHaveLength(4)
  expect(answers.flatMap((answer) => answer.body.registered)).toHaveLength(2)
  expect(answers.filter((answer) => !answer.body.unchanged)).toHaveLength(2)
  expect(await packs.changes('cowork:race-a')).toHaveLength(1)
  expect(await packs.changes('cowork:race-b')).toHaveLength(1)
})

test('a definition that is written at the same time is registered once', async () => {
  await packs.put(
    'beside',
    ['beside-1', 'beside-2'].map((id) => packSkill(id)),
    ['agent'],
  )
  const [applied, ...written] = await Promise.all([
    packs.apply('beside'),
    packs.register('beside-2'),
    packs.register('beside-1'),
  ])
  expect(applied.status).toBe(200)
  const registered = applied.body.registered.length + written.filter((answer) => answer.status === 201).length
  expect(registered).toBe(2)
  expect(written.every((answer) => [201, 409].includes(answer.status))).toBe(true)
  for (const id of ['beside-1', 'beside-2']) {
    expect(await packs.skill(id)).toMatchObject({ state: 'published', versions: [{ state: 'published' }] })
  }
})

test('the largest pack is applied; what would make more grants is refused', async () => {
  const large = packsOf(hub, 'globex')
  const archetypes = Array.from({ length: 51 }, (_, i) => `a${i}`)
  await large.bundle(...archetypes)
  await large.put(
    'large',
    Array.from({ length: 1000 }, (_, i) => packSkill(`s${i}`)),
    archetypes,
  )
  const refused = await large.apply('large')
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/archetype_ids'])
  const { status, body } = await large.apply('large', { archetype_ids: archetypes.slice(0, 50) })
  expect([status, body.registered.length, body.granted.length]).toEqual([200, 1000, 50_000])
  const [event] = await large.changes('cowork:large')
  expect(event?.details).toMatchObject({ granted_count: 50_000, registered_count: 1000 })
  expect(event?.details.granted).toHaveLength(1000)
})

test('without token, scope or tenant nothing is applied', async () => {
  const scopes = ['skill_entitlement:read', 'hub:write'] as const
  expect(await commonRejections(hub, 'POST', applyPath('legal'), { scopes })).toEqual(allRefused)
})
