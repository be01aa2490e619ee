import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { base, moment, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
let packs: ReturnType<typeof packsOf>
const path = `${base}/grants`
beforeAll(async () => {
  hub = await startAuthHub()
  packs = packsOf(hub, 'acme')
  await packs.bundle('Agent', 'counsel', 'chief')
  await packs.put(
    'support',
    ['Z', 'a', 'b:c'].map((id) => packSkill(id)),
    ['counsel', 'Agent'],
  )
  await packs.apply('support')
  await packs.register('by-hand')
  await packs.grant('chief', ['by-hand'])
})
afterAll(() => hub.close())

const all = [
  ...['Agent Z support', 'Agent a support', 'Agent b:c support', 'chief by-hand'],
  ...['counsel Z support', 'counsel a support', 'counsel b:c support'],
]

test('a grant is listed with its time and the pack that gave it', async () => {
  const { body } = await hub.call('acme', 'GET', `${path}?limit=1`, { scopes: ['skill_entitlement:read'] })
  expect(body).toEqual({
    items: [{ archetype_id: 'Agent', skill_id: 'Z', granted_at: expect.stringMatching(moment), cowork_id: 'support' }],
    next_cursor: expect.any(String),
  })
})

test.each([
  ['', all],
  ['archetype_id=counsel', all.slice(4)],
  ['skill_id=a', [all[1], all[5]]],
  ['archetype_id=chief&skill_id=by-hand', [all[3]]],
  ['archetype_id=chief&skill_id=a', []],
  ['archetype_id=nobody', []],
])('pages meet each grant of %j once, in order', async (query, wanted) => {
  const met: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await packs.call('GET', `${path}?limit=2&${query}${cursor && `&cursor=${cursor}`}`)
    for (const { archetype_id, skill_id, cowork_id } of body.items) {
      met.push([archetype_id, skill_id, cowork_id].filter(Boolean).join(' '))
    }
    cursor = body.next_cursor
  }
  expect(met).toEqual(wanted)
})

test('another tenant’s grants are not listed, and its cursor is refused', async () => {
  expect((await hub.call('globex', 'GET', path)).body).toEqual({ items: [], next_cursor: null })
  const { next_cursor } = (await packs.call('GET', `${path}?limit=1`)).body
  for (const [tenant, query] of [
    ['globex', ''],
    ['acme', '&skill_id=a'],
  ] as const) {
    const { status, body } = await hub.call(tenant, 'GET', `${path}?limit=1&cursor=${next_cursor}${query}`)
    expect([status, body.type]).toEqual([400, `${hub.url}/errors/invalid-cursor`])
  }
})

test.each([
  ['colour=red', '/query/colour'],
  ['archetype_id=%20', '/query/archetype_id'],
  ['skill_id=a&skill_id=b', '/query/skill_id'],
  ['limit=1001', '/query/limit'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await packs.call('GET', `${path}?${query}`)
  expect([status, body.errors[0].pointer]).toEqual([400, pointer])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['roster:read', 'skill_entitlement:write'] })).toEqual(
    allRefused,
  )
})
