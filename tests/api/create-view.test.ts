import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownViewsMax, sharedViewsMax } from '../../contract/limits.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { saveView, tokenOf, viewBody, viewsPath } from './view-cases.ts'

let hub: TestHub
let token: string
beforeAll(async () => {
  hub = await startHub()
  token = await tokenOf(hub, 'analyst')
})
afterAll(() => hub.stop())

const create = (body: unknown, as = token) => hub.call('acme', 'POST', viewsPath, { token: as, body })

test('saves the state of a page, for oneself where nothing else is said', async () => {
  const settings = { page: 'records', name: 'Übersicht: Kosten', query: 'skill_id=a&user_id=user%3Akim%40example.com' }
  const answer = await create(settings)
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    view_id: expect.stringMatching(/^view_[A-Za-z0-9]{24}$/),
    ...{ ...settings, shared: false, own: true },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    updated_at: answer.body.created_at,
  })
  expect(answer.headers.location).toBe(`${viewsPath}/${answer.body.view_id}`)
})

test.each([
  ['command-center', 'n', '', true],
  ['deliveries', 'n'.repeat(100), `q=${'x'.repeat(3998)}`, false],
  ['governance', '🙂', '!~', true],
])('of the page %s', async (page, name, query, shared) => {
  const answer = await create({ page, name, query, shared })
  expect([answer.status, answer.body]).toMatchObject([201, { page, name, query, shared }])
})

test('a member, who reads telemetry alone, may save and share', async () => {
  const answer = await create(viewBody({ shared: true }), await tokenOf(hub, 'member'))
  expect([answer.status, answer.body.shared]).toEqual([201, true])
})

test('the same name a second time is 409 for its owner, on the same page', async () => {
  const view = viewBody()
  expect((await create(view)).status).toBe(201)
  const again = await create({ ...view, query: 'other=1' })
  expect([again.status, slugOf(again)]).toEqual([409, 'concurrent-modification'])
  expect((await create({ ...view, page: 'records' })).status).toBe(201)
  expect((await create(view, await tokenOf(hub, 'member'))).status).toBe(201)
})

test('two at once of the same name are one', async () => {
  const view = viewBody()
  const answers = await Promise.all([create(view), create(view), create(view)])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
})

test.each<[string, object, string]>([
  ['no page', { page: undefined }, '/page'],
  ['another page', { page: 'settings' }, '/page'],
  ['no name', { name: undefined }, '/name'],
  ['an empty name', { name: '' }, '/name'],
  ['a blank name', { name: ' ' }, '/name'],
  ['a long name', { name: 'x'.repeat(101) }, '/name'],
  ['a name of two lines', { name: 'a\nb' }, '/name'],
  ['no query', { query: undefined }, '/query'],
  ['a long query', { query: 'x'.repeat(4001) }, '/query'],
  ['a query with a space', { query: 'a=b c' }, '/query'],
  ['a query that is not encoded', { query: 'a=é' }, '/query'],
  ['no truth value', { shared: 'yes' }, '/shared'],
  ['null', { shared: null }, '/shared'],
  ['somebody else', { owner: 'usr_1' }, '/owner'],
])('%s is 400', async (_name, change, pointer) => {
  const answer = await create(viewBody(change))
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', [pointer]])
})

test('one owner has so many, and no more; another has as many', async () => {
  const mine = await tokenOf(hub, 'member')
  for (let count = 0; count < ownViewsMax; count += 1) await saveView(hub, mine)
  const answer = await create(viewBody(), mine)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', ['']])
  expect(answer.body.detail).toContain(String(ownViewsMax))
  expect((await create(viewBody())).status).toBe(201)
})

test('a tenant shares so many, and no more', async () => {
  const superuser = await hub.superuserClient()
  await superuser.query(
    `insert into hub.saved_views
     select 'acme', 'view_' || n, 'usr_' || n, 'records', 'x', 'x', '', '{}', true, now(), now()
     from generate_series(1, $1 - (select count(*) from hub.saved_views where tenant_id = 'acme' and shared)) n`,
    [sharedViewsMax],
  )
  const answer = await create(viewBody({ shared: true }))
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/shared']])
  const own = await create(viewBody())
  expect(own.status).toBe(201)
  const shared = await hub.call('acme', 'PATCH', `${viewsPath}/${own.body.view_id}`, { token, body: { shared: true } })
  expect([shared.status, pointersOf(shared)]).toEqual([400, ['/shared']])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: viewsPath, body: viewBody() }),
  wrongScopes: ['governance:read', 'hub:write', 'roster:read'],
})
