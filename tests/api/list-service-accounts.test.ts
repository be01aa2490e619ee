import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
const path = '/api/v1/service-accounts'
const made: string[] = []
beforeAll(async () => {
  hub = await startAuthHub()
  for (const tenant of ['acme', 'globex']) {
    for (let index = 0; index < 4; index += 1) {
      const body = { name: `${tenant} ${index}`, scopes: ['hub:read'] }
      const answer = await hub.call(tenant, 'POST', path, { body })
      if (tenant === 'acme') made.push(answer.body.client_id)
    }
  }
})
afterAll(() => hub.close())

test('pages meet every account of the tenant once, oldest first, without secrets', async () => {
  const met: { client_id: string; name: string }[] = []
  let query = '?limit=2'
  for (let pages = 0; pages < 5; pages += 1) {
    const { status, body } = await hub.call('acme', 'GET', `${path}${query}`)
    expect(status).toBe(200)
    met.push(...body.items)
    if (body.next_cursor === null) break
    query = `?limit=2&cursor=${body.next_cursor}`
  }
  // The first is the one that the test calls with.
  expect(met.slice(1).map(({ client_id }) => client_id)).toEqual(made)
  expect(met[0]).toMatchObject({ scopes: [...scopeNames], last_used_at: expect.any(String) })
  expect(met[1]).toEqual({
    client_id: made[0],
    name: 'acme 0',
    scopes: ['hub:read'],
    created_at: expect.any(String),
    secrets: [{ created_at: expect.any(String) }],
  })
})

test('accounts that are disabled stay in it', async () => {
  await hub.call('acme', 'DELETE', `${path}/${made[1]}`)
  const { items } = (await hub.call('acme', 'GET', path)).body
  const disabled = items.filter((item: { disabled_at?: string }) => item.disabled_at !== undefined)
  expect(disabled).toEqual([expect.objectContaining({ client_id: made[1], disabled_at: expect.any(String) })])
})

test('a cursor that was altered, or is of another tenant or list, is refused', async () => {
  const { next_cursor: cursor } = (await hub.call('acme', 'GET', `${path}?limit=2`)).body
  const altered = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`
  const answers = [
    await hub.call('acme', 'GET', `${path}?cursor=${altered}`),
    await hub.call('globex', 'GET', `${path}?cursor=${cursor}`),
    await hub.call('acme', 'GET', `/api/v1/roster/archetypes?cursor=${cursor}`),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(400)
    expect(body.type).toBe(`${hub.url}/errors/invalid-cursor`)
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['limit=3&limit=4', '/query/limit'],
  ['name=x', '/query/name'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?${query}`)
  expect(status).toBe(400)
  expect(body.errors).toEqual([{ pointer, detail: expect.any(String) }])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = scopeNames.filter((scope) => scope !== 'connector:admin')
  expect(await commonRejections(hub, 'GET', path, { scopes })).toEqual(allRefused)
})
