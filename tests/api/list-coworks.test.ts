import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'
import { base, coworkPath, packSkill, packsOf } from '../entitlement/packs.ts'

let hub: AuthHub
const path = `${base}/coworks`
const ids = ['A.upper', 'b-second', 'c_third', 'd:fourth', 'e5']
beforeAll(async () => {
  hub = await startAuthHub()
  const packs = packsOf(hub, 'acme')
  for (const id of ids.toReversed()) await packs.put(id, [packSkill(`skill-${id}`)])
})
afterAll(() => hub.close())

async function pages(tenant: string, limit: number): Promise<string[][]> {
  const met: string[][] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await hub.call(tenant, 'GET', `${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`)
    met.push(body.items.map((pack: { cowork_id: string }) => pack.cowork_id))
    cursor = body.next_cursor
  }
  return met
}

test('packs are listed as they are got, in the order of their ids', async () => {
  const { body } = await hub.call('acme', 'GET', path, { scopes: ['skill_entitlement:read'] })
  expect(body.items.map((pack: { cowork_id: string }) => pack.cowork_id)).toEqual(ids)
  expect(body.items[1]).toEqual((await hub.call('acme', 'GET', coworkPath('b-second'))).body)
})

test.each([1, 2, 5, 1000])('pages of %i meet every pack once, and no other tenant’s', async (limit) => {
  const met = await pages('acme', limit)
  expect(met.flat()).toEqual(ids)
  expect(met.every((page) => page.length > 0 && page.length <= limit)).toBe(true)
  expect(await pages('globex', limit)).toEqual([[]])
})

test('a page ends before it has too much text, and has one pack at least', async () => {
  const packs = packsOf(hub, 'cmode')
  const owner = 'o'.repeat(200)
  const large = Array.from({ length: 1000 }, (_, i) => ({ ...packSkill(`s${i}`), name: 'n'.repeat(200), owner }))
  for (let number = 0; number < 12; number += 1) {
    expect((await packs.put(`large-${String(number).padStart(2, '0')}`, large)).status).toBe(200)
  }
  const met = await pages('cmode', 1000)
  expect(met.length).toBeGreaterThan(1)
  expect(met.flat()).toHaveLength(12)
})

test('a cursor of another tenant, and an unknown parameter, are refused', async () => {
  const { next_cursor } = (await hub.call('acme', 'GET', `${path}?limit=1`)).body
  const foreign = await hub.call('globex', 'GET', `${path}?limit=1&cursor=${next_cursor}`)
  expect([foreign.status, foreign.body.type]).toEqual([400, `${hub.url}/errors/invalid-cursor`])
  for (const [query, pointer] of [
    ['colour=red', '/query/colour'],
    ['limit=0', '/query/limit'],
    ['limit=1001', '/query/limit'],
  ]) {
    const { status, body } = await hub.call('acme', 'GET', `${path}?${query}`)
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
  }
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['hub:read', 'skill_entitlement:write'] })).toEqual(
    allRefused,
  )
})
