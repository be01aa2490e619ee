import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { saveView, tokenOf, viewsPath } from './view-cases.ts'

let hub: TestHub
let token: string
let other: string
beforeAll(async () => {
  hub = await startHub()
  token = await tokenOf(hub, 'analyst')
  other = await tokenOf(hub, 'member')
  for (const name of ['beta', 'Alpha', 'delta']) await saveView(hub, token, { name })
  await saveView(hub, token, { name: 'alpha', page: 'records' })
  await saveView(hub, other, { name: 'Charlie', page: 'records', shared: true })
  await saveView(hub, other, { name: 'beta', shared: true })
  await saveView(hub, other, { name: 'hidden' })
})
afterAll(() => hub.stop())

const list = (query = '', as = token) => hub.call('acme', 'GET', `${viewsPath}${query}`, { token: as })
const shownIn = (answer: { body: { items: { name: string; own: boolean }[] } }) =>
  answer.body.items.map(({ name, own }) => `${name}${own ? '' : ' of another'}`)

test('one’s own and those that others share, by name', async () => {
  const answer = await list()
  expect([answer.status, answer.body.next_cursor]).toEqual([200, null])
  const [first, second, third, fourth, ...rest] = shownIn(answer)
  expect([first, second].sort()).toEqual(['Alpha', 'alpha'])
  expect([third, fourth].sort()).toEqual(['beta', 'beta of another'])
  expect(rest).toEqual(['Charlie of another', 'delta'])
  expect(shownIn(await list('', other)).sort()).toEqual(['Charlie', 'beta', 'hidden'])
})

test('nothing tells whose a view is', async () => {
  const { items } = (await list()).body
  for (const item of items) {
    expect(Object.keys(item).sort()).toEqual(
      ['created_at', 'name', 'own', 'page', 'query', 'shared', 'updated_at', 'view_id'].sort(),
    )
  }
})

test('an administrator sees no private view of another', async () => {
  expect(shownIn(await list('', await tokenOf(hub, 'admin')))).toEqual(['beta of another', 'Charlie of another'])
})

test('of one page', async () => {
  expect(shownIn(await list('?page=records'))).toEqual(['alpha', 'Charlie of another'])
  expect(shownIn(await list('?page=governance'))).toEqual([])
})

test.each(['', '&page=command-center'])('pages meet each once%s', async (page) => {
  const all = (await list(`?limit=1000${page}`)).body.items
  for (const limit of [1, 2, 3]) {
    const met: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await list(`?limit=${limit}${page}${cursor && `&cursor=${cursor}`}`)
      expect(body.items.length).toBeGreaterThan(0)
      met.push(...body.items)
      cursor = body.next_cursor
    }
    expect(met).toEqual(all)
  }
})

test('a cursor is of one person’s list, and of one page', async () => {
  const { next_cursor: cursor } = (await list('?limit=1')).body
  for (const [query, as] of [
    ['', other],
    ['&page=records', token],
  ] as const) {
    const answer = await list(`?limit=1&cursor=${cursor}${query}`, as)
    expect([answer.status, slugOf(answer)]).toEqual([400, 'invalid-cursor'])
  }
})

test.each([
  ['?page=settings', '/query/page'],
  ['?page=', '/query/page'],
  ['?limit=0', '/query/limit'],
  ['?limit=1001', '/query/limit'],
  ['?owner=me', '/query/owner'],
  ['?page=records&page=records', '/query/page'],
])('%s is 400', async (query, pointer) => {
  const answer = await list(query)
  expect([answer.status, pointersOf(answer)]).toEqual([400, [pointer]])
})

test('another tenant has none of it', async () => {
  expect((await hub.call('globex', 'GET', viewsPath)).body).toEqual({ items: [], next_cursor: null })
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: viewsPath }),
  wrongScopes: ['governance:read', 'roster:read'],
})
