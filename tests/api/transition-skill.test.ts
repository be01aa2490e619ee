import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { skillStates } from '../../contract/literals.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const pathOf = (skillId: string) => `/api/v1/skill-entitlement/skills/${skillId}:transition`
const move = (skillId: string, state: string, tenant = 'acme') =>
  hub.call(tenant, 'POST', pathOf(skillId), { body: { state } })

async function register(skillId: string, version = '1.0.0', tenant = 'acme') {
  const body = {
    record_type: 'skill_definition',
    skill_id: skillId,
    skill_version: version,
    name: `${skillId} ${version}`,
  }
  return hub.call(tenant, 'POST', '/api/v1/hub/records', { body })
}

const eventsOf = async (skillId: string) =>
  (await hub.events('acme')).filter((event) => event.subject === `skill:${skillId}`)

test('a skill goes through its states, each step with its event', async () => {
  expect((await register('writer')).status).toBe(201)
  for (const state of ['published', 'deprecated', 'published', 'deprecated', 'retired']) {
    const { status, body } = await move('writer', state)
    expect(status).toBe(200)
    expect(body).toMatchObject({ skill_id: 'writer', state, versions: [{ skill_version: '1.0.0', state }] })
  }
  const events = await eventsOf('writer')
  expect(events.map((event) => event.event_kind)).toEqual(Array(5).fill('skill.entitlement_changed'))
  expect(events[0]?.details).toMatchObject({
    before: { state: 'draft' },
    after: { state: 'published' },
    versions: ['1.0.0'],
  })
})

test('telemetry takes a skill of any state but retired, and knows of the change at once', async () => {
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  const event = {
    skill_id: 'counted',
    skill_version: '1.0.0',
    archetype_id: 'agent',
    user_id: 'user:a@acme.example',
    llm_platform: 'claude',
    ts: new Date().toISOString(),
    success: true,
    latency_ms: 100,
    tokens_in: 1,
    tokens_out: 1,
    cost_usd_estimate: 0.000001,
  }
  const ingest = async () => (await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event })).status
  expect(await ingest()).toBe(422)
  await register('counted')
  expect(await ingest()).toBe(201)
  for (const state of ['published', 'deprecated']) {
    await move('counted', state)
    expect(await ingest()).toBe(201)
  }
  await move('counted', 'retired')
  expect(await ingest()).toBe(422)
})

describe('steps that the states do not allow', () => {
  const routes: Record<string, string[]> = {
    draft: [],
    published: ['published'],
    deprecated: ['published', 'deprecated'],
    retired: ['published', 'deprecated', 'retired'],
  }
  const allowed: Record<string, string[]> = {
    draft: ['published'],
    published: ['deprecated'],
    deprecated: ['published', 'retired'],
    retired: [],
  }
  for (const from of skillStates) {
    test(`from ${from}`, async () => {
      const skillId = `from-${from}`
      await register(skillId)
      for (const state of routes[from] ?? []) await move(skillId, state)
      const written = (await eventsOf(skillId)).length

      const same = await move(skillId, from)
      expect([same.status, same.body.state]).toEqual([200, from])
      for (const to of skillStates.filter((state) => state !== from && !allowed[from]?.includes(state))) {
        const { status, body } = await move(skillId, to)
        expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/state'])
        for (const next of allowed[from] ?? []) expect(body.errors[0].detail).toContain(next)
      }
      expect(await eventsOf(skillId)).toHaveLength(written)
    })
  }
})

test('a further version is a draft until its skill is published again', async () => {
  await register('reader')
  await move('reader', 'published')
  expect((await register('reader', '1.1.0')).status).toBe(201)
  const listed = (await hub.call('acme', 'GET', '/api/v1/skill-entitlement/skills?limit=1000')).body.items
  const reader = listed.find((skill: { skill_id: string }) => skill.skill_id === 'reader')
  expect(reader).toMatchObject({
    state: 'published',
    name: 'reader 1.1.0',
    versions: [
      { skill_version: '1.0.0', state: 'published' },
      { skill_version: '1.1.0', state: 'draft' },
    ],
  })
  const { body } = await move('reader', 'published')
  expect(body.versions.map((version: { state: string }) => version.state)).toEqual(['published', 'published'])
  expect((await eventsOf('reader')).at(-1)?.details.versions).toEqual(['1.1.0'])
  expect((await register('reader', '1.1.0')).status).toBe(409)
})

test('an id may have colons and dots', async () => {
  expect((await register('team:writer.v2:draft')).status).toBe(201)
  expect((await move('team:writer.v2:draft', 'published')).body.state).toBe('published')
  expect((await move(encodeURIComponent('team:writer.v2:draft'), 'published')).status).toBe(200)
})

test('an unknown skill, another tenant’s or no id at all is not found', async () => {
  await register('only-acme')
  const answers = [
    await move('nothing', 'published'),
    await move('only-acme', 'published', 'globex'),
    await move('%20', 'published'),
    await move("x'%20or%20'1'='1", 'published'),
    await move('a'.repeat(200), 'published'),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(404)
    expect(body.type).toBe(`${hub.url}/errors/not-found`)
  }
})

test.each([
  [{}, '/state'],
  [{ state: 'live' }, '/state'],
  [{ state: 1 }, '/state'],
  [{ state: 'published', force: true }, '/force'],
])('the body %j is refused with a pointer', async (body, pointer) => {
  const answer = await hub.call('acme', 'POST', pathOf('writer'), { body })
  expect(answer.status).toBe(400)
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
})

test('without token, scope or tenant nothing moves', async () => {
  const body = { state: 'published' }
  const scopes = ['skill_entitlement:read', 'hub:write'] as const
  expect(await commonRejections(hub, 'POST', pathOf('only-acme'), { body, scopes })).toEqual(allRefused)
})
