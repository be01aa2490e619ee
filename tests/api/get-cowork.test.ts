import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { coworkPath, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent')
  await packs.put('support', [packSkill('one')], ['agent'])
})
afterAll(() => hub.close())

test('a pack is answered as it is stored, and says when it was applied', async () => {
  const { body } = await packs.call('GET', coworkPath('support'))
  expect(body).toEqual({
    cowork_id: 'support',
    name: 'Pack support',
    skills: [packSkill('one')],
    archetype_ids: ['agent'],
    created_at: expect.stringMatching(moment),
    updated_at: expect.stringMatching(moment),
  })
  const { applied_at } = (await packs.apply('support')).body
  const read = await hub.call('acme', 'GET', coworkPath('support'), { scopes: ['skill_entitlement:read'] })
  expect(read.body).toEqual({ ...body, applied_at })
})

test('an unknown pack, another tenant’s or no id at all is not found', async () => {
  const answers = [
    await packs.call('GET', coworkPath('nothing')),
    await hub.call('globex', 'GET', coworkPath('support')),
    await packs.call('GET', coworkPath('%20')),
    await packs.call('GET', coworkPath('a'.repeat(200))),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404])
})

test('an unknown parameter is refused with a pointer', async () => {
  const { status, body } = await packs.call('GET', `${coworkPath('support')}?colour=red`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/colour'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = ['hub:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'GET', coworkPath('support'), { scopes })).toEqual(allRefused)
})
