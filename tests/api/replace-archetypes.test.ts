import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/roster/archetypes'
const put = (tenant: string, archetypes: unknown) => hub.call(tenant, 'PUT', path, { body: { archetypes } })
const changes = async (tenant: string) =>
  (await hub.events(tenant)).filter((event) => event.details.change === 'archetypes')

test('the bundle is replaced, and the change recorded once', async () => {
  const bundle = [{ archetype_id: 'analyst', name: 'Analyst' }, { archetype_id: 'agent.tier-1:eu' }]
  const first = await put('acme', bundle)
  expect(first.status).toBe(200)
  expect(first.body).toEqual({ archetypes: [bundle[1], bundle[0]] })
  expect((await put('acme', bundle)).body).toEqual(first.body)
  expect(await changes('acme')).toHaveLength(1)

  const second = await put('acme', [{ archetype_id: 'analyst', name: 'Data analyst' }, { archetype_id: 'counsel' }])
  expect(second.status).toBe(200)
  const [, change] = await changes('acme')
  expect(change).toMatchObject({
    event_kind: 'tenant.config_changed',
    subject: 'tenant:acme',
    details: {
      before: { count: 2 },
      after: { count: 2 },
      added: ['counsel'],
      removed: ['agent.tier-1:eu'],
      renamed: ['analyst'],
      actor: expect.stringMatching(/^sa/),
      address: '127.0.0.1',
      request_id: expect.any(String),
    },
  })
  expect((await hub.call('acme', 'GET', path)).body.items).toEqual(second.body.archetypes)
})

test('an empty bundle and one of 10,000 are bundles', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({ archetype_id: `a${i}` }))
  const answer = await put('cmode', many)
  expect(answer.status).toBe(200)
  expect(answer.body.archetypes).toHaveLength(10_000)
  expect((await put('cmode', [])).body).toEqual({ archetypes: [] })
  expect((await hub.call('cmode', 'GET', path)).body).toEqual({ items: [], next_cursor: null })
})

test('two replacements at once leave one of the two bundles', async () => {
  const bundles = ['x', 'y', 'z'].map((letter) => [1, 2, 3].map((n) => ({ archetype_id: `${letter}${n}` })))
  const answers = await Promise.all(bundles.map((bundle) => put('bmode', bundle)))
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
  const { items } = (await hub.call('bmode', 'GET', path)).body
  expect(bundles).toContainEqual(items)
})

describe('refused with a pointer', () => {
  test.each([
    [
      'a malformed id',
      { archetypes: [{ archetype_id: 'ok' }, { archetype_id: 'not ok' }] },
      '/archetypes/1/archetype_id',
    ],
    ['an id twice', { archetypes: [{ archetype_id: 'a' }, { archetype_id: 'a' }] }, '/archetypes/1/archetype_id'],
    ['no id', { archetypes: [{ name: 'A' }] }, '/archetypes/0/archetype_id'],
    ['an unknown member', { archetypes: [{ archetype_id: 'a', color: 'red' }] }, '/archetypes/0/color'],
    ['no bundle', {}, '/archetypes'],
    ['a bundle that is no list', { archetypes: { a: 1 } }, '/archetypes'],
    ['10,001', { archetypes: Array.from({ length: 10_001 }, (_, i) => ({ archetype_id: `a${i}` })) }, '/archetypes'],
  ])('%s', async (_name, body, pointer) => {
    const answer = await hub.call('globex', 'PUT', path, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.type).toBe(`${hub.url}/errors/validation-failed`)
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    expect((await hub.call('globex', 'GET', path)).body.items).toEqual([])
  })
})

test('without token, scope or tenant there is nothing to change', async () => {
  const body = { archetypes: [{ archetype_id: 'intruder' }] }
  expect(await commonRejections(hub, 'PUT', path, { body, scopes: ['roster:read', 'hub:write'] })).toEqual(allRefused)
  expect((await hub.call('globex', 'GET', path)).body.items).toEqual([])
})
