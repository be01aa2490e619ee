import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { saveView, tokenOf, viewsPath } from './view-cases.ts'

let hub: TestHub
let token: string
let other: string
beforeAll(async () => {
  hub = await startHub()
  token = await tokenOf(hub, 'member')
  other = await tokenOf(hub, 'auditor')
})
afterAll(() => hub.stop())

let id: string
beforeEach(async () => {
  id = (await saveView(hub, token, { shared: true })).view_id
})

const remove = (as = token, query = '') => hub.call('acme', 'DELETE', `${viewsPath}/${id}${query}`, { token: as })
const isThere = async () =>
  (await hub.call('acme', 'GET', `${viewsPath}?limit=1000`, { token })).body.items.some(
    ({ view_id }: { view_id: string }) => view_id === id,
  )

test('removes it for everybody; then it is not there', async () => {
  const answer = await remove()
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect(await isThere()).toBe(false)
  const again = await remove()
  expect([again.status, slugOf(again)]).toEqual([404, 'not-found'])
})

test('of another’s, an administrator removes shared ones alone', async () => {
  const refused = await remove(other)
  expect([refused.status, slugOf(refused)]).toEqual([403, 'insufficient-scope'])
  expect(await isThere()).toBe(true)
  const admin = await tokenOf(hub, 'admin')
  await hub.call('acme', 'PATCH', `${viewsPath}/${id}`, { token, body: { shared: false } })
  for (const as of [other, admin]) expect((await remove(as)).status).toBe(404)
  expect(await isThere()).toBe(true)
  await hub.call('acme', 'PATCH', `${viewsPath}/${id}`, { token, body: { shared: true } })
  expect((await remove(admin)).status).toBe(204)
  expect(await isThere()).toBe(false)
})

test('its name is free again', async () => {
  const { name, view_id } = await saveView(hub, token)
  expect((await hub.call('acme', 'DELETE', `${viewsPath}/${view_id}`, { token })).status).toBe(204)
  expect((await saveView(hub, token, { name })).name).toBe(name)
})

test('an unknown parameter is 400', async () => {
  const answer = await remove(token, '?force=true')
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/query/force']])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'DELETE', path: `${viewsPath}/${id}` }),
  wrongScopes: ['governance:read', 'hub:purge'],
  otherTenant: 404,
})
