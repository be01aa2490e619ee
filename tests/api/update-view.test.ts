import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { saveView, tokenOf, viewsPath } from './view-cases.ts'

let hub: TestHub
let token: string
let other: string
let admin: string
beforeAll(async () => {
  hub = await startHub()
  token = await tokenOf(hub, 'analyst')
  other = await tokenOf(hub, 'auditor')
  admin = await tokenOf(hub, 'admin')
})
afterAll(() => hub.stop())

// biome-ignore lint/suspicious/noExplicitAny: as it was answered
let view: any
beforeEach(async () => {
  view = await saveView(hub, token)
})

const update = (body: unknown, as = token, id = view.view_id) =>
  hub.call('acme', 'PATCH', `${viewsPath}/${id}`, { token: as, body })
const seenBy = async (as: string) =>
  (await hub.call('acme', 'GET', `${viewsPath}?limit=1000`, { token: as })).body.items.find(
    ({ view_id }: { view_id: string }) => view_id === view.view_id,
  )

test.each<[object]>([[{ name: 'Renamed' }], [{ query: '' }], [{ query: 'a=1', shared: true, name: 'All of it' }]])(
  'changes %o, and leaves the rest',
  async (changes) => {
    const answer = await update(changes)
    expect([answer.status, answer.body]).toEqual([200, { ...view, ...changes, updated_at: expect.any(String) }])
    expect(answer.body.updated_at > view.updated_at).toBe(true)
    expect(await seenBy(token)).toEqual(answer.body)
  },
)

test('the same, or nothing, changes nothing', async () => {
  const { name, query, shared } = view
  for (const body of [{}, { name, query, shared }]) expect((await update(body)).body).toEqual(view)
})

test('shared, everybody sees it; shared no more, nobody else does', async () => {
  expect(await seenBy(other)).toBeUndefined()
  await update({ shared: true })
  expect(await seenBy(other)).toMatchObject({ name: view.name, own: false })
  await update({ shared: false })
  expect(await seenBy(other)).toBeUndefined()
})

test('a name that its owner has on this page is 409', async () => {
  const second = await saveView(hub, token)
  const answer = await update({ name: second.name })
  expect([answer.status, slugOf(answer)]).toEqual([409, 'concurrent-modification'])
  expect(await seenBy(token)).toEqual(view)
  const elsewhere = await saveView(hub, token, { page: 'records' })
  expect((await update({ name: elsewhere.name })).status).toBe(200)
})

test('a private one is unknown to everybody else, administrators too', async () => {
  for (const as of [other, admin]) {
    const answer = await update({ name: 'Mine now' }, as)
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
    const unknown = await update({ name: 'Mine now' }, as, `view_${'0'.repeat(24)}`)
    expect([unknown.status, unknown.body.detail]).toEqual([404, answer.body.detail])
  }
  expect(await seenBy(token)).toEqual(view)
})

test('a shared one is changed by its owner and by an administrator alone', async () => {
  await update({ shared: true })
  const refused = await update({ name: 'Mine now' }, other)
  expect([refused.status, slugOf(refused)]).toEqual([403, 'insufficient-scope'])
  const changed = await update({ name: 'Better name' }, admin)
  expect([changed.status, changed.body]).toMatchObject([200, { name: 'Better name', own: false }])
  expect(await seenBy(token)).toMatchObject({ name: 'Better name', own: true })
  // The names of its owner count, not those of who changes it.
  const second = await saveView(hub, token)
  expect((await update({ name: second.name }, admin)).status).toBe(409)
})

test.each<[string, unknown, string[]]>([
  ['an empty name', { name: '' }, ['/name']],
  ['a long query and no truth value', { query: 'x'.repeat(4001), shared: 1 }, ['/query', '/shared']],
  ['null', { name: null }, ['/name']],
  ['another page', { page: 'records' }, ['/page']],
  ['no object', [], ['']],
])('%s is 400', async (_name, body, pointers) => {
  const answer = await update(body)
  expect([answer.status, slugOf(answer), pointersOf(answer).sort()]).toEqual([400, 'validation-failed', pointers])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'PATCH', path: `${viewsPath}/${view.view_id}`, body: { name: 'x' } }),
  wrongScopes: ['governance:read', 'hub:write'],
  otherTenant: 404,
})
