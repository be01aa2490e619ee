import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { grantsPath, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent', 'idle')
  await packs.register('by-hand')
  await packs.grant('agent', ['by-hand'])
  await packs.put('support', [packSkill('a-pack')], ['agent'])
  await packs.apply('support')
})
afterAll(() => hub.close())

test('the skills of an archetype come with the pack that gave them', async () => {
  const { status, body } = await hub.call('acme', 'GET', grantsPath('agent'), { scopes: ['skill_entitlement:read'] })
  const granted_at = expect.stringMatching(moment)
  expect([status, body]).toEqual([
    200,
    {
      archetype_id: 'agent',
      grants: [
        { skill_id: 'a-pack', granted_at, cowork_id: 'support' },
        { skill_id: 'by-hand', granted_at },
      ],
    },
  ])
  expect((await packs.call('GET', grantsPath('idle'))).body).toEqual({ archetype_id: 'idle', grants: [] })
})

test('an archetype that the bundle lacks, another tenant’s or no id at all is not found', async () => {
  const answers = [
    await packs.call('GET', grantsPath('nobody')),
    await hub.call('globex', 'GET', grantsPath('agent')),
    await packs.call('GET', grantsPath('%20')),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404])
})

test('an unknown parameter is refused with a pointer', async () => {
  const { status, body } = await packs.call('GET', `${grantsPath('agent')}?colour=red`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/colour'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = ['roster:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'GET', grantsPath('agent'), { scopes })).toEqual(allRefused)
})
