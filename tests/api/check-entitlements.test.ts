import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { prepareChecks } from '../entitlement/checks.ts'
import { base } from '../entitlement/packs.ts'

let hub: AuthHub
let users: Record<string, string>
const statements: string[] = []
const path = `${base}/check:batch`
beforeAll(async () => {
  hub = await startAuthHub({ onQuery: (text) => void statements.push(text) })
  users = await prepareChecks(hub)
})
afterAll(() => hub.close())

const ask = (checks: unknown) =>
  hub.call('acme', 'POST', path, { body: { checks }, scopes: ['skill_entitlement:read'] })

test('answers come in the order of the questions, the same as one by one', async () => {
  const people = [...Object.values(users), 'user:kim@acme.example', 'user:who@acme.example']
  const skills = ['published', 'never', 'draft', 'deprecated', 'retired', 'published']
  const checks = people.flatMap((user_id) => skills.map((skill_id) => ({ user_id, skill_id })))
  const { status, body } = await ask(checks)
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(['results'])
  for (const [index, { user_id, skill_id }] of checks.entries()) {
    const query = `user_id=${encodeURIComponent(user_id)}&skill_id=${skill_id}`
    expect(body.results[index]).toEqual((await hub.call('acme', 'GET', `${base}/check?${query}`)).body)
  }
  expect(new Set(body.results.map((result: { reason?: string }) => result.reason)).size).toBe(8)
})

test('1,000 questions take no more statements than one', async () => {
  const count = async (checks: unknown[]) => {
    const counts: number[] = []
    // The first call fills caches; beside any one, background work may send statements of its own.
    for (let call = 0; call < 6; call++) {
      const before = statements.length
      const { status, body } = await ask(checks)
      expect([status, body.results?.length]).toEqual([200, checks.length])
      counts.push(statements.length - before)
    }
    return Math.min(...counts)
  }
  const one = await count([{ user_id: users.kim, skill_id: 'published' }])
  const many = Array.from({ length: 1000 }, (_, i) => ({ user_id: `user:x${i}@acme.example`, skill_id: `s${i}` }))
  const thousand = await count([{ user_id: users.kim, skill_id: 'published' }, ...many.slice(1)])
  expect(thousand).toBeLessThanOrEqual(one)
  expect(one).toBeLessThan(15)
})

test.each<[unknown, string]>([
  [{}, '/checks'],
  [{ checks: [] }, '/checks'],
  [{ checks: [{ user_id: 'user:kim' }] }, '/checks/0/skill_id'],
  [{ checks: [{ user_id: 'kim', skill_id: 'a' }] }, '/checks/0/user_id'],
  [{ checks: [{ user_id: 'user:kim', skill_id: 'a', colour: 'red' }] }, '/checks/0/colour'],
  [{ checks: Array.from({ length: 1001 }, () => ({ user_id: 'user:kim', skill_id: 'a' })) }, '/checks'],
])('a body like %j is refused with a pointer', async (body, pointer) => {
  const answer = await hub.call('acme', 'POST', path, { body })
  expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer])
})

test('without token, scope or tenant nothing is told', async () => {
  const body = { checks: [{ user_id: 'user:kim', skill_id: 'published' }] }
  const scopes = ['roster:read', 'skill_entitlement:write'] as const
  expect(await commonRejections(hub, 'POST', path, { body, scopes })).toEqual(allRefused)
})
