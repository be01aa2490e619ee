import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { holdsPath, placeHold, purge, releaseHold } from './hold-cases.ts'
import { decision, expectGuarded, expectProblem, query, unknownId, write } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const place = (body: object) => hub.call('acme', 'POST', holdsPath, { body })
const matter = { name: 'Case 17', reason: 'Litigation' }

test('records that are named are held, with an event; the refusal names the hold', async () => {
  const [id, other] = [await write(hub, 'acme', decision), await write(hub, 'acme', decision)]
  const answer = await place({ ...matter, record_ids: [id.toUpperCase()] })
  expect(answer.status, answer.text).toBe(201)
  expect(answer.body).toEqual({
    hold_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ...matter,
    active: true,
    record_count: 1,
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    created_by: await hub.clientId('acme'),
  })
  const { hold_id } = answer.body
  expect(answer.headers.location).toBe(`${holdsPath}/${hold_id}`)

  const refusal = await purge(hub, 'acme', id)
  expectProblem(refusal, 'legal-hold')
  expect(refusal.body.holds).toEqual([{ hold_id, name: 'Case 17' }])
  expect(refusal.body.detail).toContain(`"Case 17" (${hold_id})`)
  expect((await purge(hub, 'acme', other)).status).toBe(200)

  const { records } = await query(hub, 'acme', '?event_kind=hub.legal_hold_applied')
  expect(records).toHaveLength(1)
  expect(records[0]).toMatchObject({
    subject: `hold:${hold_id}`,
    details: { ...matter, record_count: 1, actor: await hub.clientId('acme'), after: { active: true } },
  })
})

test('a filter holds what matches, and what is written later', async () => {
  const decisionBy = { ...decision, decision_id: 'DEC-2' }
  const before = await write(hub, 'acme', decisionBy)
  const body = { ...matter, filter: { record_type: ['decision'], created_at__gte: '2020-01-01T01:00:00+01:00' } }
  const { body: hold, status } = await place({ ...body, filter: { ...body.filter, tenant_id: 'acme' } })
  expect(status).toBe(201)
  expect(hold.filter).toEqual({ record_type: ['decision'], created_at__gte: '2020-01-01T00:00:00.000000Z' })
  expect(hold).not.toHaveProperty('record_count')
  const later = await write(hub, 'acme', decisionBy)
  const artifact = await write(hub, 'acme', { record_type: 'artifact', title: 'Contract' })
  for (const id of [before, later]) expectProblem(await purge(hub, 'acme', id), 'legal-hold')
  expect((await purge(hub, 'acme', artifact)).status).toBe(200)
  await releaseHold(hub, 'acme', hold.hold_id)
  expect((await purge(hub, 'acme', later)).status).toBe(200)
})

test('`all` holds every record, and what is written later; a filter without conditions is refused and says so', async () => {
  const refusal = await place({ ...matter, filter: {} })
  expectProblem(refusal, 'validation-failed', '/filter')
  expect(refusal.body.errors[0].detail).toContain('"all": true')

  const before = await write(hub, 'acme', decision)
  const hold = await placeHold(hub, 'acme', { all: true })
  expect(hold).toMatchObject({ all: true, filter: {} })
  expect(hold).not.toHaveProperty('record_count')
  const later = await write(hub, 'acme', { record_type: 'artifact', title: 'Contract' })
  for (const id of [before, later]) expectProblem(await purge(hub, 'acme', id), 'legal-hold')
  const { body } = await hub.call('acme', 'GET', `${holdsPath}/${hold.hold_id}`)
  expect(body).toEqual(hold)
  expect((await releaseHold(hub, 'acme', hold.hold_id)).body).toMatchObject({ all: true, active: false })
  expect((await purge(hub, 'acme', later)).status).toBe(200)
})

test('a record that is named twice is one', async () => {
  const [id, other] = [await write(hub, 'acme', decision), await write(hub, 'acme', decision)]
  const hold = await placeHold(hub, 'acme', { record_ids: [other, id, id.toUpperCase(), other, id] })
  expect(hold.record_count).toBe(2)
  const { body } = await hub.call('acme', 'GET', `${holdsPath}/${hold.hold_id}`)
  expect(body.record_ids).toEqual([id, other])
  expect((await releaseHold(hub, 'acme', hold.hold_id)).status).toBe(200)
})

test('all holds over a record are named', async () => {
  const id = await write(hub, 'acme', decision)
  const first = await placeHold(hub, 'acme', { name: 'One', record_ids: [id] })
  const second = await placeHold(hub, 'acme', { name: 'Two', filter: { record_id: id.toUpperCase() } })
  const { body } = await purge(hub, 'acme', id)
  expect(body.holds).toEqual([
    { hold_id: first.hold_id, name: 'One' },
    { hold_id: second.hold_id, name: 'Two' },
  ])
  for (const hold of body.holds) expect(body.detail).toContain(hold.hold_id)
})

test('bad input', async () => {
  const id = await write(hub, 'acme', decision)
  const cases: [object, ...string[]][] = [
    [{}, '/name', '/reason'],
    [matter, '/record_ids'],
    [{ ...matter, record_ids: [id], filter: {} }, '/filter'],
    [{ ...matter, record_ids: [id], all: true }, '/all'],
    [{ ...matter, filter: { record_type: ['decision'] }, all: true }, '/all'],
    [{ ...matter, record_ids: [id], filter: {}, all: true }, '/filter', '/all'],
    [{ ...matter, filter: {} }, '/filter'],
    [{ ...matter, filter: { tenant_id: 'acme' } }, '/filter'],
    [{ ...matter, all: false }, '/all'],
    [{ ...matter, all: 'true' }, '/all'],
    [{ ...matter, record_ids: [] }, '/record_ids'],
    [{ ...matter, record_ids: ['x'] }, '/record_ids/0'],
    [{ ...matter, record_ids: [id, unknownId] }, '/record_ids/1'],
    [{ ...matter, record_ids: [id, id.toUpperCase(), unknownId] }, '/record_ids/2'],
    [{ ...matter, record_ids: Array(10_001).fill(id) }, '/record_ids'],
    [{ ...matter, record_ids: [id], name: '' }, '/name'],
    [{ ...matter, record_ids: [id], name: 'a\nb' }, '/name'],
    [{ ...matter, record_ids: [id], reason: 'x'.repeat(501) }, '/reason'],
    [{ ...matter, filter: { record_type: 'output' } }, '/filter/record_type'],
    [{ ...matter, filter: { record_type: ['nonsense'] } }, '/filter/record_type/0'],
    [{ ...matter, filter: { created_at__gte: 'yesterday' } }, '/filter/created_at__gte'],
    [{ ...matter, filter: { limit: 1 } }, '/filter/limit'],
    [{ ...matter, record_ids: [id], expires_at: 'x' }, '/expires_at'],
  ]
  for (const [body, ...pointers] of cases) expectProblem(await place(body), 'validation-failed', ...pointers)
})

test('records of another tenant, and a filter of another tenant', async () => {
  const foreign = await write(hub, 'globex', decision)
  expectProblem(await place({ ...matter, record_ids: [foreign] }), 'validation-failed', '/record_ids/0')
  const refusal = await place({ ...matter, filter: { tenant_id: 'globex' } })
  expectProblem(refusal, 'invalid-tenant')
  expect(refusal.body.tenant_slug).toBe('globex')
  await placeHold(hub, 'acme', { filter: { record_type: ['decision'] } })
  expect((await purge(hub, 'globex', foreign)).status).toBe(200)
})

test('not without token, tenant or scope', async () => {
  const body = { ...matter, all: true }
  await expectGuarded(hub, 'POST', holdsPath, { body, lacking: ['hub:read', 'hub:write', 'governance:read'] })
})
