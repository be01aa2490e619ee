import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { holdsPath, placeHold, releaseHold } from './hold-cases.ts'
import { expectGuarded, expectProblem } from './record-cases.ts'

let hub: TestHub
let ids: string[]

beforeAll(async () => {
  hub = await startHub()
  ids = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await placeHold(hub, 'acme', { name, all: true })).hold_id)
  await releaseHold(hub, 'acme', ids[1]!)
  await releaseHold(hub, 'acme', ids[3]!)
  await placeHold(hub, 'globex', { name: 'foreign', all: true })
})
afterAll(() => hub.stop())

const list = (parameters = '') => hub.call('acme', 'GET', `${holdsPath}${parameters}`)
const idsOf = ({ body }: { body: { items: { hold_id: string }[] } }) => body.items.map((hold) => hold.hold_id)

test('all holds, the oldest first; those in force, and those released', async () => {
  const all = await list()
  expect(idsOf(all)).toEqual(ids)
  expect(all.body.next_cursor).toBeNull()
  expect(all.body.items[0]).toMatchObject({ name: 'a', active: true, filter: {} })
  expect(idsOf(await list('?active=true'))).toEqual([ids[0], ids[2], ids[4]])
  expect(idsOf(await list('?active=false'))).toEqual([ids[1], ids[3]])
})

test('page by page', async () => {
  const seen: string[] = []
  let cursor = ''
  do {
    const page = await list(`?active=true&limit=2${cursor}`)
    expect(page.status, page.text).toBe(200)
    seen.push(...idsOf(page))
    cursor = page.body.next_cursor && `&cursor=${page.body.next_cursor}`
  } while (cursor)
  expect(seen).toEqual([ids[0], ids[2], ids[4]])
})

test('a cursor is of its tenant and query', async () => {
  const { next_cursor: cursor } = (await list('?limit=1')).body
  expectProblem(await list(`?active=true&limit=1&cursor=${cursor}`), 'invalid-cursor')
  expectProblem(await list(`?cursor=${cursor}x`), 'invalid-cursor')
  expectProblem(await hub.call('globex', 'GET', `${holdsPath}?cursor=${cursor}`), 'invalid-cursor')
})

test('bad input', async () => {
  expectProblem(await list('?limit=0'), 'validation-failed', '/query/limit')
  expectProblem(await list('?active=maybe'), 'validation-failed', '/query/active')
  expectProblem(await list('?name=a'), 'validation-failed', '/query/name')
})

test('not without token, tenant or scope; governance:read is enough', async () => {
  await expectGuarded(hub, 'GET', holdsPath, { lacking: ['hub:read', 'hub:write'] })
  expect((await hub.call('acme', 'GET', holdsPath, { scopes: ['governance:read'] })).status).toBe(200)
})
