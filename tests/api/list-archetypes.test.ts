import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
const path = '/api/v1/roster/archetypes'
const ids = Array.from({ length: 7 }, (_, i) => `archetype-${i}`)
beforeAll(async () => {
  hub = await startAuthHub()
  for (const tenant of ['acme', 'globex']) {
    const archetypes = ids.map((id) => ({ archetype_id: `${tenant}.${id}` }))
    await hub.call(tenant, 'PUT', path, { body: { archetypes } })
  }
})
afterAll(() => hub.close())

test('pages meet every archetype of the tenant once, in the order of ids', async () => {
  const met: string[] = []
  let query = '?limit=3'
  for (let pages = 0; pages < 5; pages += 1) {
    const { status, body } = await hub.call('acme', 'GET', `${path}${query}`, { scopes: ['roster:read'] })
    expect(status).toBe(200)
    met.push(...body.items.map((item: { archetype_id: string }) => item.archetype_id))
    if (body.next_cursor === null) break
    query = `?limit=3&cursor=${body.next_cursor}`
  }
  expect(met).toEqual(ids.map((id) => `acme.${id}`))
})

test('a cursor that was altered, or is of another tenant or list, is refused', async () => {
  const { next_cursor: cursor } = (await hub.call('acme', 'GET', `${path}?limit=3`)).body
  const altered = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`
  const answers = [
    await hub.call('acme', 'GET', `${path}?cursor=${altered}`),
    await hub.call('globex', 'GET', `${path}?cursor=${cursor}`),
    await hub.call('acme', 'GET', `/api/v1/skill-entitlement/skills?cursor=${cursor}`),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(400)
    expect(body.type).toBe(`${hub.url}/errors/invalid-cursor`)
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['limit=x', '/query/limit'],
  ['limit=3&limit=4', '/query/limit'],
  ['name=x', '/query/name'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?${query}`)
  expect(status).toBe(400)
  expect(body.errors).toEqual([{ pointer, detail: expect.any(String) }])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['hub:read', 'roster:write'] })).toEqual(allRefused)
})
