import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdsNamedMax } from '../../contract/limits.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { placeHold, purge, releaseHold } from './hold-cases.ts'
import { decision, expectGuarded, expectProblem, governanceEvent, pathOf, unknownId, write } from './record-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const state = (id: string, options = {}) => hub.call('acme', 'GET', pathOf(id, '/state'), options)
const read = async (id: string) => {
  const answer = await state(id)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

test('a record that nobody purged or holds', async () => {
  const id = await write(hub, 'acme', decision)
  expect(await read(id.toUpperCase())).toEqual({ record_id: id, is_purged: false, holds: [], truncated: false })
})

test('a purged one: by whom, why, and until when it can be restored; restored, nothing of it', async () => {
  const id = await write(hub, 'acme', decision)
  const { body } = await hub.call('acme', 'DELETE', pathOf(id, '?reason=Entered%20twice'))
  expect(await read(id)).toEqual({
    record_id: id,
    is_purged: true,
    ...{ purged_at: body.purged_at, purged_by: await hub.clientId('acme'), purge_reason: 'Entered twice' },
    hard_delete_after: body.hard_delete_after,
    ...{ holds: [], truncated: false },
  })
  await hub.call('acme', 'POST', pathOf(id, ':restore'))
  expect(await read(id)).toEqual({ record_id: id, is_purged: false, holds: [], truncated: false })
})

test('the holds over it, by name and by filter, until they are released; they stop the clock of its buffer', async () => {
  const [id, other] = [await write(hub, 'acme', governanceEvent), await write(hub, 'acme', decision)]
  const named = await placeHold(hub, 'acme', { name: 'Named', record_ids: [id] })
  const filtering = await placeHold(hub, 'acme', { name: 'All events', filter: { record_type: ['governance_event'] } })
  await placeHold(hub, 'acme', { name: 'Another', record_ids: [other] })
  const holds = [
    { hold_id: named.hold_id, name: 'Named' },
    { hold_id: filtering.hold_id, name: 'All events' },
  ]
  expect((await read(id)).holds).toEqual(holds)
  await releaseHold(hub, 'acme', named.hold_id)
  expect((await read(id)).holds).toEqual(holds.slice(1))

  const purged = await write(hub, 'acme', decision)
  await purge(hub, 'acme', purged)
  const late = await placeHold(hub, 'acme', { name: 'Late', record_ids: [purged] })
  const frozen = await read(purged)
  expect(frozen).toMatchObject({ is_purged: true, holds: [{ hold_id: late.hold_id, name: 'Late' }] })
  expect(frozen).not.toHaveProperty('hard_delete_after')
  await releaseHold(hub, 'acme', late.hold_id)
  expect(await read(purged)).toMatchObject({ hard_delete_after: expect.stringMatching(/Z$/), holds: [] })
  await releaseHold(hub, 'acme', filtering.hold_id)
})

test('of very many holds, the newest', async () => {
  const id = await write(hub, 'acme', decision)
  const placed: string[] = []
  for (let count = 0; count <= holdsNamedMax; count += 1) {
    placed.push((await placeHold(hub, 'acme', { record_ids: [id] })).hold_id)
  }
  const { holds, truncated } = await read(id)
  expect(truncated).toBe(true)
  expect(holds.map(({ hold_id }: { hold_id: string }) => hold_id)).toEqual(placed.slice(1))
})

test('bad input, an unknown record and one of another tenant', async () => {
  expectProblem(await state('nonsense'), 'validation-failed', '/path/record_id')
  const id = await write(hub, 'acme', decision)
  expectProblem(await hub.call('acme', 'GET', pathOf(id, '/state?verify=true')), 'validation-failed', '/query/verify')
  for (const record of [unknownId, await write(hub, 'globex', decision)])
    expectProblem(await state(record), 'not-found')
})

test('of a record that the token can neither read nor purge nobody learns that there is one', async () => {
  const id = await write(hub, 'acme', decision)
  expectProblem(await state(id, { scopes: ['governance:read'] }), 'not-found')
  for (const scopes of [['governance:read', 'hub:read'], ['hub:purge']]) {
    expect((await state(id, { scopes })).status).toBe(200)
  }
  const event = await write(hub, 'acme', governanceEvent)
  expect((await state(event, { scopes: ['governance:read'] })).status).toBe(200)
})

test('not without token, tenant or scope', async () => {
  const id = await write(hub, 'acme', governanceEvent)
  await expectGuarded(hub, 'GET', pathOf(id, '/state'), { lacking: ['hub:read', 'hub:write', 'telemetry:read'] })
})
