import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { holdsPath, placeHold, releaseHold } from './hold-cases.ts'
import { decision, expectGuarded, expectProblem, unknownId, write } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const get = (id: string) => hub.call('acme', 'GET', `${holdsPath}/${id}`)

test('a hold with the records that it names, in and out of force', async () => {
  const ids = [await write(hub, 'acme', decision), await write(hub, 'acme', decision)]
  const placed = await placeHold(hub, 'acme', { record_ids: ids.toReversed() })
  expect((await get(placed.hold_id.toUpperCase())).body).toEqual({ ...placed, record_count: 2, record_ids: ids })
  const { body: released } = await releaseHold(hub, 'acme', placed.hold_id)
  expect((await get(placed.hold_id)).body).toEqual({ ...released, record_ids: ids })
})

test('of many records, the first thousand and their count', async () => {
  const id = await write(hub, 'acme', decision)
  const superuser = await hub.superuserClient()
  const hold = await placeHold(hub, 'acme', { record_ids: [id] })
  await superuser.query(
    `insert into hub.legal_hold_records select 'acme', gen_random_uuid(), $1 from generate_series(1, 1000)`,
    [hold.hold_id],
  )
  const { body } = await get(hold.hold_id)
  expect(body.record_ids).toHaveLength(1000)
  expect(body.record_ids).toEqual([...body.record_ids].sort())
})

test('a hold with a filter has no records of its own', async () => {
  const placed = await placeHold(hub, 'acme', { filter: { user_id: 'user:kim@example.com' } })
  expect((await get(placed.hold_id)).body).toEqual(placed)
})

test('unknown, foreign and malformed ids', async () => {
  const foreign = await placeHold(hub, 'globex', { all: true })
  for (const id of [unknownId, foreign.hold_id]) expectProblem(await get(id), 'not-found')
  for (const id of ['nonsense', `${unknownId}0`, '%20', "'--", 'é', 'x'.repeat(500)]) {
    expectProblem(await get(id), 'not-found')
  }
})

test('not without token, tenant or scope; governance:read is enough', async () => {
  const { hold_id } = await placeHold(hub, 'acme', { all: true })
  await expectGuarded(hub, 'GET', `${holdsPath}/${hold_id}`, { lacking: ['hub:read', 'hub:write'] })
  const answer = await hub.call('acme', 'GET', `${holdsPath}/${hold_id}`, { scopes: ['governance:read'] })
  expect(answer.status).toBe(200)
})
