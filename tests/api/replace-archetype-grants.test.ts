import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { grantsPath, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent', 'counsel', 'chief')
  for (const id of ['one', 'two', 'three']) await packs.register(id)
})
afterAll(() => hub.close())

const slugOf = (type: string) => type.split('/').at(-1)

test('an archetype has the skills it is given and no others, each change with one event', async () => {
  const first = await packs.grant('agent', ['two', 'one'])
  expect(first.status).toBe(200)
  expect(first.body).toEqual({
    archetype_id: 'agent',
    grants: ['one', 'two'].map((skill_id) => ({ skill_id, granted_at: expect.stringMatching(moment) })),
  })
  expect((await packs.grant('agent', ['one', 'two'])).body).toEqual(first.body)
  const second = await packs.grant('agent', ['three', 'one'])
  expect(second.body.grants.map((grant: { skill_id: string }) => grant.skill_id)).toEqual(['one', 'three'])
  expect(second.body.grants[0]).toEqual(first.body.grants[0])
  expect((await packs.grant('agent', [])).body).toEqual({ archetype_id: 'agent', grants: [] })

  const pair = (skill_id: string) => ({ archetype_id: 'agent', skill_id })
  expect((await packs.changes('archetype:agent')).map((event) => event.details)).toMatchObject([
    { change: 'grants', granted: [pair('one'), pair('two')], revoked: [] },
    { granted: [pair('three')], revoked: [pair('two')] },
    { granted: [], revoked: [pair('one'), pair('three')], granted_count: 0, revoked_count: 2 },
  ])
})

test('grants of a pack stay the pack’s, and one taken by hand comes back with it', async () => {
  await packs.put('support', [packSkill('one'), packSkill('two')], ['counsel'])
  await packs.apply('support')
  await packs.grant('counsel', ['one', 'three'])
  expect((await packs.grants()).filter((grant) => grant.startsWith('counsel'))).toEqual([
    'counsel one support',
    'counsel three',
  ])
  expect((await packs.apply('support')).body.granted).toEqual([{ archetype_id: 'counsel', skill_id: 'two' }])
})

test('unknown and retired skills are 422 with pointers; what is granted already may stay', async () => {
  await packs.register('old')
  await packs.grant('chief', ['old'])
  for (const state of ['published', 'deprecated', 'retired']) await packs.transition('old', state)
  expect((await packs.grant('chief', ['old', 'one'])).status).toBe(200)
  await packs.grant('chief', ['one'])
  const { status, body } = await packs.grant('chief', ['one', 'old', 'never'])
  expect([status, slugOf(body.type)]).toEqual([422, 'skill-not-registered'])
  expect(body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(['/skill_ids/1', '/skill_ids/2'])
  expect((await packs.grants()).filter((grant) => grant.startsWith('chief'))).toEqual(['chief one'])
})

describe('refused with a pointer', () => {
  test.each([
    [{}, '/skill_ids'],
    [{ skill_ids: 'one' }, '/skill_ids'],
    [{ skill_ids: ['o ne'] }, '/skill_ids/0'],
    [{ skill_ids: ['one', 'two', 'one'] }, '/skill_ids/2'],
    [{ skill_ids: [], force: true }, '/force'],
  ])('%j', async (body, pointer) => {
    const answer = await packs.call('PUT', grantsPath('agent'), body)
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, pointer])
  })
})

test('an archetype that the bundle lacks, another tenant’s or no id at all is not found', async () => {
  const other = packsOf(hub, 'globex')
  const answers = [await packs.grant('nobody', []), await other.grant('agent', []), await packs.grant('%20', [])]
  expect(answers.map(({ status, body }) => [status, slugOf(body.type)])).toEqual(Array(3).fill([404, 'not-found']))
})

test('without token, scope or tenant nothing is granted', async () => {
  const scopes = ['skill_entitlement:read', 'roster:write'] as const
  expect(await commonRejections(hub, 'PUT', grantsPath('agent'), { body: { skill_ids: [] }, scopes })).toEqual(
    allRefused,
  )
})
