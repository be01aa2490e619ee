import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  query,
  unknownId,
  write,
} from './record-cases.ts'

let hub: TestHub
let id: string

beforeAll(async () => {
  hub = await startHub()
  id = await write(hub, 'acme', governanceEvent)
})
afterAll(() => hub.stop())

const release = (record: string, body: unknown) =>
  hub.call('acme', 'POST', pathOf(record, '/legal-hold-releases'), { body })

test('a governance event is released, with an event', async () => {
  const answer = await release(id, { reason: 'Case 17 is closed', expires_at: '2999-01-01T02:00:00+02:00' })
  expect(answer.status, answer.text).toBe(201)
  expect(answer.body).toEqual({
    release_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    record_id: id,
    reason: 'Case 17 is closed',
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    expires_at: '2999-01-01T00:00:00.000000Z',
  })
  expect((await release(id, { reason: 'Again' })).body).not.toHaveProperty('expires_at')
  const { records } = await query(hub, 'acme', '?event_kind=hub.legal_hold_released&sort=created_at')
  expect(records).toHaveLength(2)
  expect(records[0]).toMatchObject({
    subject: `record:${id}`,
    details: { reason: 'Case 17 is closed', release_id: answer.body.release_id },
  })
})

test.each<[object | undefined, string]>([
  [undefined, '/reason'],
  [{}, '/reason'],
  [{ reason: '' }, '/reason'],
  [{ reason: 'x'.repeat(501) }, '/reason'],
  [{ reason: 'x', expires_at: 'tomorrow' }, '/expires_at'],
  [{ reason: 'x', expires_at: '2016-12-31T23:59:60Z' }, '/expires_at'],
  [{ reason: 'x', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
  [{ reason: 'x', until: 'x' }, '/until'],
])('%j is refused', async (body, pointer) => {
  expectProblem(await release(id, body), 'validation-failed', pointer)
})

test('only a governance event of the tenant takes one', async () => {
  expectProblem(
    await release(await write(hub, 'acme', decision), { reason: 'x' }),
    'validation-failed',
    '/path/record_id',
  )
  const unseen = pathOf(await write(hub, 'acme', decision), '/legal-hold-releases')
  const refused = await hub.call('acme', 'POST', unseen, { body: { reason: 'x' }, scopes: ['hub:purge'] })
  expectProblem(refused, 'validation-failed', '/path/record_id')
  expect(refused.text).not.toContain('decision')
  expectProblem(await release(unknownId, { reason: 'x' }), 'not-found')
  expectProblem(await release(await write(hub, 'globex', governanceEvent), { reason: 'x' }), 'not-found')
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'POST', pathOf(id, '/legal-hold-releases'), {
    body: { reason: 'x' },
    lacking: ['hub:read', 'hub:write', 'governance:read'],
  }))
