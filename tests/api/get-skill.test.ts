import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { base, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
const pathOf = (id: string) => `${base}/skills/${id}`
beforeAll(async () => {
  hub = await startAuthHub()
  const packs = packsOf(hub, 'acme')
  for (const id of ['writer', 'team:writer.v2']) {
    await packs.register(id)
    await packs.register(id, '1.1.0')
  }
})
afterAll(() => hub.close())

test('a skill is answered as it is listed', async () => {
  const { items } = (await hub.call('acme', 'GET', `${base}/skills`)).body
  for (const item of items) {
    const { status, body } = await hub.call('acme', 'GET', pathOf(item.skill_id), {
      scopes: ['skill_entitlement:read'],
    })
    expect([status, body]).toEqual([200, item])
  }
  expect(items).toHaveLength(2)
})

test('an unknown skill, another tenant’s or no id at all is not found', async () => {
  const answers = [
    await hub.call('acme', 'GET', pathOf('nothing')),
    await hub.call('globex', 'GET', pathOf('writer')),
    await hub.call('acme', 'GET', pathOf('%20')),
    await hub.call('acme', 'GET', pathOf('a'.repeat(200))),
  ]
  for (const { status, body } of answers) expect([status, body.type]).toEqual([404, `${hub.url}/errors/not-found`])
})

test('an unknown parameter is refused with a pointer', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${pathOf('writer')}?colour=red`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/colour'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = ['hub:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'GET', pathOf('writer'), { scopes })).toEqual(allRefused)
})
