import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { applyPath, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('agent')
  await packs.put('support', [packSkill('one')], ['agent'])
})
afterAll(() => hub.close())

test('the last application that changed something is answered as it was', async () => {
  const before = await packs.call('GET', applyPath('support'))
  expect(before.status).toBe(404)
  expect(before.body.detail).toContain('has not been applied')
  const first = await packs.apply('support')
  await packs.apply('support')
  await packs.apply('support', { archetype_ids: [], dry_run: true })
  const read = await hub.call('acme', 'GET', applyPath('support'), { scopes: ['skill_entitlement:read'] })
  expect([read.status, read.body]).toEqual([200, first.body])
  expect(JSON.stringify(read.body)).toBe(JSON.stringify(first.body))
  const second = await packs.apply('support', { archetype_ids: [] })
  expect((await packs.call('GET', applyPath('support'))).body).toEqual(second.body)
})

test('of an unknown pack, another tenant’s or no id at all there is none', async () => {
  const answers = [
    await packs.call('GET', applyPath('nothing')),
    await hub.call('globex', 'GET', applyPath('support')),
    await packs.call('GET', applyPath('%20')),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404])
})

test('an unknown parameter is refused with a pointer', async () => {
  const { status, body } = await packs.call('GET', `${applyPath('support')}?colour=red`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/colour'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = ['hub:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'GET', applyPath('support'), { scopes })).toEqual(allRefused)
})
