import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { holdsPath, placeHold, purge, releaseHold } from './hold-cases.ts'
import { decision, expectGuarded, expectProblem, query, unknownId, write } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('the record can be purged when its last hold is released, with an event each', async () => {
  const id = await write(hub, 'acme', decision)
  const [one, two] = [
    await placeHold(hub, 'acme', { record_ids: [id] }),
    await placeHold(hub, 'acme', { filter: { record_type: ['decision'] } }),
  ]
  const answer = await releaseHold(hub, 'acme', one.hold_id.toUpperCase(), 'Settled')
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toEqual({
    ...one,
    active: false,
    released_at: expect.stringMatching(/\.\d{6}Z$/),
    released_by: await hub.clientId('acme'),
    release_reason: 'Settled',
  })
  expect((await purge(hub, 'acme', id)).body.holds).toEqual([{ hold_id: two.hold_id, name: two.name }])

  const again = await releaseHold(hub, 'acme', one.hold_id, 'Another reason')
  expect([again.status, again.body]).toEqual([200, answer.body])
  const { records } = await query(hub, 'acme', '?event_kind=hub.legal_hold_released')
  expect(records).toHaveLength(1)
  expect(records[0]).toMatchObject({
    subject: `hold:${one.hold_id}`,
    details: { reason: 'Settled', name: 'Case 17', before: { active: true }, after: { active: false } },
  })

  expect((await releaseHold(hub, 'acme', two.hold_id)).status).toBe(200)
  expect((await purge(hub, 'acme', id)).status).toBe(200)
  const verification = await hub.call('acme', 'POST', `/api/v1/hub/records/${id}/verify`)
  expect(verification.body.verified).toBe(true)
})

test('bad input', async () => {
  const { hold_id } = await placeHold(hub, 'acme', { all: true })
  const release = (id: string, body?: unknown) => hub.call('acme', 'POST', `${holdsPath}/${id}:release`, { body })
  expectProblem(await release(hold_id, {}), 'validation-failed', '/reason')
  expectProblem(await release(hold_id, { reason: '' }), 'validation-failed', '/reason')
  expectProblem(await release(hold_id, { reason: 'x'.repeat(501) }), 'validation-failed', '/reason')
  expectProblem(await release(hold_id, { reason: 'x', force: true }), 'validation-failed', '/force')
  expectProblem(await release(hold_id), 'validation-failed', '/reason')
  for (const id of ['nonsense', `${hold_id}0`, 'a:b']) expectProblem(await release(id, { reason: 'x' }), 'not-found')
  expect((await hub.call('acme', 'GET', `${holdsPath}/${hold_id}`)).body.active).toBe(true)
})

test('an unknown hold and one of another tenant are not found', async () => {
  const foreign = await placeHold(hub, 'globex', { all: true })
  for (const id of [unknownId, foreign.hold_id]) expectProblem(await releaseHold(hub, 'acme', id), 'not-found')
  expect((await hub.call('globex', 'GET', `${holdsPath}/${foreign.hold_id}`)).body.active).toBe(true)
})

test('not without token, tenant or scope', async () => {
  const { hold_id } = await placeHold(hub, 'acme', { all: true })
  await expectGuarded(hub, 'POST', `${holdsPath}/${hold_id}:release`, {
    body: { reason: 'x' },
    lacking: ['hub:read', 'hub:write', 'governance:read'],
  })
})
