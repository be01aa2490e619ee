import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
const path = '/api/v1/skill-entitlement/skills'
const skillIds = ['a.first', 'b-second', 'c_third', 'd:fourth', 'e5']
beforeAll(async () => {
  hub = await startAuthHub()
  for (const skill_id of skillIds) {
    const body = { record_type: 'skill_definition', skill_id, skill_version: '1.0.0', name: `Skill ${skill_id}` }
    const written = await hub.call('acme', 'POST', '/api/v1/hub/records', { body })
    expect(written.status).toBe(201)
  }
})
afterAll(() => hub.close())

test('a skill is listed with its state and versions', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?limit=1`, { scopes: ['skill_entitlement:read'] })
  expect(status).toBe(200)
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(body).toEqual({
    items: [
      {
        skill_id: 'a.first',
        state: 'draft',
        name: 'Skill a.first',
        registered_at: moment,
        updated_at: moment,
        versions: [
          {
            skill_version: '1.0.0',
            state: 'draft',
            name: 'Skill a.first',
            record_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            registered_at: moment,
          },
        ],
      },
    ],
    next_cursor: expect.any(String),
  })
  const [version] = body.items[0].versions
  const record = await hub.call('acme', 'GET', `/api/v1/hub/records/${version.record_id}`)
  expect(record.body).toMatchObject({ skill_id: 'a.first', created_at: version.registered_at })
})

test('pages meet every skill of the tenant once, and no other tenant’s', async () => {
  const met: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await hub.call('acme', 'GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`)
    met.push(...page.body.items.map((skill: { skill_id: string }) => skill.skill_id))
    cursor = page.body.next_cursor
  }
  expect(met).toEqual(skillIds)
  expect((await hub.call('globex', 'GET', path)).body).toEqual({ items: [], next_cursor: null })
})

test('a cursor of another tenant is refused', async () => {
  const { next_cursor } = (await hub.call('acme', 'GET', `${path}?limit=1`)).body
  const { status, body } = await hub.call('globex', 'GET', `${path}?limit=1&cursor=${next_cursor}`)
  expect([status, body.type]).toEqual([400, `${hub.url}/errors/invalid-cursor`])
})

test('an unknown parameter is refused with a pointer', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?colour=red`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/colour'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['hub:read', 'skill_entitlement:write'] })).toEqual(
    allRefused,
  )
})
