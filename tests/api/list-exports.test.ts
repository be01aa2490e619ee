import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type ExportsHub, exportsPath, startExportsHub } from '../exports/ordered-exports.ts'

let lab: ExportsHub
const ids: string[] = []
let ofEvents: string
beforeAll(async () => {
  lab = await startExportsHub()
  for (let made = 0; made < 5; made += 1)
    ids.unshift(await lab.order('acme', { filter: { record_type: ['artifact'] } }))
  ofEvents = await lab.order('acme', { filter: { record_type: ['governance_event'] } }, ['governance:read'])
  for (const id of [...ids, ofEvents]) await lab.ended('acme', id)
  await lab.ended('globex', await lab.order('globex'))
})
afterAll(() => lab.close())

const list = (query = '', tenant = 'acme', scopes?: readonly Scope[]) =>
  lab.call(tenant, 'GET', `${exportsPath}${query}`, { ...(scopes && { scopes }) })
const idsOf = (items: { job_id: string }[]) => items.map(({ job_id }) => job_id)

test('an item is the export as it is polled, the newest first', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(idsOf(body.items)).toEqual([ofEvents, ...ids])
  expect(body.next_cursor).toBeNull()
  const { body: polled } = await lab.call('acme', 'GET', `${exportsPath}/${ids[0]}`)
  expect(body.items[1]).toEqual(polled)
})

test('pages meet every export of the tenant once', async () => {
  const met: string[] = []
  let query = '?limit=2'
  for (let pages = 0; pages < 5; pages += 1) {
    const { body } = await list(query)
    met.push(...idsOf(body.items))
    if (body.next_cursor === null) break
    query = `?limit=2&cursor=${body.next_cursor}`
  }
  expect(met).toEqual([ofEvents, ...ids])
})

test('those of types that the token may not read are left out', async () => {
  expect(idsOf((await list('', 'acme', ['governance:read'])).body.items)).toEqual([ofEvents])
  expect(idsOf((await list('', 'acme', ['telemetry:read'])).body.items)).toEqual([])
  expect(idsOf((await list('?limit=3', 'acme', ['hub:read'])).body.items)).toEqual([ofEvents, ids[0], ids[1]])
})

test('a cursor is good for its tenant alone', async () => {
  const { next_cursor } = (await list('?limit=1')).body
  for (const [cursor, tenant] of [
    [next_cursor, 'globex'],
    [`${next_cursor}A`, 'acme'],
    ['x', 'acme'],
  ]) {
    const { status, body } = await list(`?cursor=${cursor}`, tenant)
    expect([status, body.type.split('/').at(-1)]).toEqual([400, 'invalid-cursor'])
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['cursor=', '/query/cursor'],
  ['status=completed', '/query/status'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await list(`?${query}`)
  expect([status, body.errors[0].pointer]).toEqual([400, pointer])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(lab, 'GET', exportsPath, { scopes: ['hub:write'] })).toEqual(allRefused)
})
