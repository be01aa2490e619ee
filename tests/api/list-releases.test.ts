import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { decision, expectGuarded, expectProblem, governanceEvent, pathOf, unknownId, write } from './record-cases.ts'

let hub: TestHub
let id: string

beforeAll(async () => {
  hub = await startHub()
  id = await write(hub, 'acme', governanceEvent)
  for (const reason of ['one', 'two', 'three']) {
    const until = reason === 'two' ? { expires_at: '2999-01-01T00:00:00Z' } : {}
    await hub.call('acme', 'POST', pathOf(id, '/legal-hold-releases'), { body: { reason, ...until } })
  }
})
afterAll(() => hub.stop())

const list = (record: string, parameters = '') =>
  hub.call('acme', 'GET', pathOf(record, `/legal-hold-releases${parameters}`))
const reasonsOf = ({ body }: { body: { items: { reason: string }[] } }) => body.items.map((release) => release.reason)

test('all releases of the record, the oldest first', async () => {
  const answer = await list(id.toUpperCase())
  expect(answer.status, answer.text).toBe(200)
  expect(reasonsOf(answer)).toEqual(['one', 'two', 'three'])
  expect(answer.body.next_cursor).toBeNull()
  expect(answer.body.items[1]).toEqual({
    release_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    record_id: id,
    reason: 'two',
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    created_by: await hub.clientId('acme'),
    expires_at: '2999-01-01T00:00:00.000000Z',
  })
  expect(answer.body.items[0]).not.toHaveProperty('expires_at')
  expect((await list(await write(hub, 'acme', governanceEvent))).body).toEqual({ items: [], next_cursor: null })
})

test('page by page, by a cursor of this record alone', async () => {
  const first = await list(id, '?limit=2')
  const { next_cursor: cursor } = first.body
  const second = await list(id, `?limit=2&cursor=${cursor}`)
  expect([reasonsOf(first), reasonsOf(second), second.body.next_cursor]).toEqual([['one', 'two'], ['three'], null])
  const other = await write(hub, 'acme', governanceEvent)
  expectProblem(await list(other, `?cursor=${cursor}`), 'invalid-cursor')
})

test('bad input, another type, an unknown record and one of another tenant', async () => {
  expectProblem(await list('nonsense'), 'validation-failed', '/path/record_id')
  expectProblem(await list(id, '?limit=0'), 'validation-failed', '/query/limit')
  expectProblem(await list(id, '?active=true'), 'validation-failed', '/query/active')
  expectProblem(await list(await write(hub, 'acme', decision)), 'validation-failed', '/path/record_id')
  for (const record of [unknownId, await write(hub, 'globex', governanceEvent)]) {
    expectProblem(await list(record), 'not-found')
  }
})

test('nobody learns the type of a record that they can neither see nor purge', async () => {
  const other = await write(hub, 'acme', decision)
  const listAs = (...scopes: Scope[]) => hub.call('acme', 'GET', pathOf(other, '/legal-hold-releases'), { scopes })
  expectProblem(await listAs('governance:read'), 'not-found')
  const refused = await listAs('hub:purge')
  expectProblem(refused, 'validation-failed', '/path/record_id')
  expect(refused.text).not.toContain('decision')
  expect((await listAs('hub:purge', 'hub:read')).text).toContain('is a decision')
})

test('not without token, tenant or scope; governance:read is enough', async () => {
  await expectGuarded(hub, 'GET', pathOf(id, '/legal-hold-releases'), { lacking: ['hub:read', 'hub:write'] })
  const answer = await hub.call('acme', 'GET', pathOf(id, '/legal-hold-releases'), { scopes: ['governance:read'] })
  expect(answer.status).toBe(200)
})
