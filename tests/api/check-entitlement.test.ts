import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { prepareChecks } from '../entitlement/checks.ts'
import { base } from '../entitlement/packs.ts'

let hub: AuthHub
let users: Record<string, string>
beforeAll(async () => {
  hub = await startAuthHub()
  users = await prepareChecks(hub)
})
afterAll(() => hub.close())

const pathOf = (user: string, skill: string) =>
  `${base}/check?user_id=${encodeURIComponent(user)}&skill_id=${encodeURIComponent(skill)}`
const check = (user: string, skill: string, tenant = 'acme') =>
  hub.call(tenant, 'GET', pathOf(user, skill), { scopes: ['skill_entitlement:read'] })

test('who has an archetype that a published skill is granted to may use it, by whichever name they go', async () => {
  for (const name of ['user:kim@acme.example', 'user:KIM@Acme.example', users.kim!]) {
    const { status, body } = await check(name, 'published')
    expect([status, body]).toEqual([
      200,
      { user_id: name, skill_id: 'published', allowed: true, archetype_ids: ['agent', 'counsel'] },
    ])
  }
})

test('a deprecated skill is still allowed, and says so', async () => {
  expect((await check(users.kim!, 'deprecated')).body).toMatchObject({ allowed: true, deprecated: true })
})

test.each([
  ['user:who@acme.example', 'published', 'user_unknown'],
  ['user:gone@acme.example', 'published', 'user_deactivated'],
  ['user:kim@acme.example', 'never', 'skill_unknown'],
  ['user:kim@acme.example', 'draft', 'skill_not_published'],
  ['user:kim@acme.example', 'retired', 'skill_retired'],
  ['user:nobody@acme.example', 'published', 'no_archetype'],
  ['user:idle@acme.example', 'published', 'not_granted'],
])('%s may not use %s: %s', async (user, skill, reason) => {
  const { status, body } = await check(user, skill)
  expect([status, body]).toEqual([
    200,
    { user_id: user, skill_id: skill, allowed: false, reason, archetype_ids: expect.any(Array) },
  ])
})

test('nobody of another tenant may', async () => {
  expect((await check(users.kim!, 'published', 'globex')).body).toMatchObject({
    allowed: false,
    reason: 'user_unknown',
    archetype_ids: [],
  })
})

test.each([
  ['', ['/query/user_id', '/query/skill_id']],
  ['user_id=kim@acme.example&skill_id=published', ['/query/user_id']],
  ['user_id=user:kim&skill_id=%20', ['/query/skill_id']],
  ['user_id=user:kim&skill_id=a&colour=red', ['/query/colour']],
])('%j is refused with a pointer', async (query, pointers) => {
  const { status, body } = await hub.call('acme', 'GET', `${base}/check?${query}`)
  expect([status, body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([400, pointers])
})

test('without token, scope or tenant nothing is told', async () => {
  const scopes = ['roster:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'GET', pathOf('user:kim', 'published'), { scopes })).toEqual(allRefused)
})
