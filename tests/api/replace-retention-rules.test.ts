import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { placeHold, purge, releaseHold, retentionPath } from './hold-cases.ts'
import { decision, expectGuarded, expectProblem, query, read, write } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const put = (body: unknown) => hub.call('acme', 'PUT', retentionPath, { body })
const changes = async () =>
  (await query(hub, 'acme', '?event_kind=tenant.config_changed&limit=1000')).records.filter(
    (event: { details: { change?: string } }) => event.details.change === 'retention_rules',
  )

test('rules are replaced, with an event that has before and after; the same again changes nothing', async () => {
  const first = [{ record_type: 'output', max_days: 365 }]
  expect((await put({ rules: first })).body).toEqual({ rules: first, four_eyes: false })
  const second = [
    { record_type: 'telemetry_event', max_days: 0 },
    { record_type: 'decision', min_days: 36_500 },
  ]
  const answer = await put({ rules: second, four_eyes: true })
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toEqual({ rules: second.toReversed(), four_eyes: true })
  expect((await put({ rules: second.toReversed() })).body).toEqual(answer.body)
  const events = await changes()
  expect(events).toHaveLength(2)
  expect(events[1]).toMatchObject({
    subject: 'tenant:acme',
    details: {
      before: { rules: first, four_eyes: false },
      after: answer.body,
      actor: await hub.clientId('acme'),
    },
  })
  expect((await put({ rules: [], four_eyes: false })).body).toEqual({ rules: [], four_eyes: false })
})

test('a record that is too young is kept; a hold is named before that', async () => {
  const id = await write(hub, 'acme', decision)
  await put({ rules: [{ record_type: 'decision', min_days: 10 }] })
  const refusal = await purge(hub, 'acme', id)
  expectProblem(refusal, 'retention')
  const { created_at } = await read(hub, 'acme', id)
  const until = new Date(Date.parse(created_at) + 10 * 86_400_000).toISOString().slice(0, 23) + created_at.slice(23)
  expect(refusal.body.keep_until).toBe(until)
  expect(refusal.body.detail).toContain(until)

  const { hold_id } = await placeHold(hub, 'acme', { record_ids: [id] })
  expectProblem(await purge(hub, 'acme', id), 'legal-hold')
  await releaseHold(hub, 'acme', hold_id)
  expectProblem(await purge(hub, 'acme', id), 'retention')
  await put({ rules: [{ record_type: 'decision', min_days: 0 }] })
  expect((await purge(hub, 'acme', id)).status).toBe(200)
})

test('bad input', async () => {
  const rule = { record_type: 'output', min_days: 1 }
  const cases: [unknown, ...string[]][] = [
    [{}, '/rules'],
    [{ rules: {} }, '/rules'],
    [{ rules: [{ record_type: 'output' }] }, '/rules/0'],
    [{ rules: [{ min_days: 1 }] }, '/rules/0/record_type'],
    [{ rules: [{ ...rule, record_type: 'nonsense' }] }, '/rules/0/record_type'],
    [{ rules: [rule, { ...rule, min_days: 2 }] }, '/rules/1/record_type'],
    [{ rules: [{ ...rule, min_days: 3, max_days: 2 }] }, '/rules/0/max_days'],
    [{ rules: [{ ...rule, min_days: -1 }] }, '/rules/0/min_days'],
    [{ rules: [{ ...rule, min_days: 1.5 }] }, '/rules/0/min_days'],
    [{ rules: [{ ...rule, max_days: 36_501 }] }, '/rules/0/max_days'],
    [{ rules: [{ record_type: 'governance_event', max_days: 1 }] }, '/rules/0/max_days'],
    [{ rules: [{ ...rule, days: 1 }] }, '/rules/0/days'],
    [{ rules: [], four_eyes: 'yes' }, '/four_eyes'],
    [{ rules: [], two_eyes: true }, '/two_eyes'],
  ]
  const before = (await hub.call('acme', 'GET', retentionPath)).body
  for (const [body, ...pointers] of cases) expectProblem(await put(body), 'validation-failed', ...pointers)
  expect((await hub.call('acme', 'GET', retentionPath)).body).toEqual(before)
})

test('the rules of another tenant do not count', async () => {
  const id = await write(hub, 'globex', decision)
  await put({ rules: [{ record_type: 'decision', min_days: 10 }] })
  expect((await purge(hub, 'globex', id)).status).toBe(200)
})

test('not without token, tenant or scope', async () => {
  await expectGuarded(hub, 'PUT', retentionPath, { body: { rules: [] }, lacking: ['hub:read', 'governance:read'] })
})

test('a rule that purges logs before six months takes effect, and is warned about', async () => {
  const rules = (max_days: number) => [{ record_type: 'telemetry_event', max_days }]
  const early = await put({ rules: rules(183) })
  expect(early.body.rules).toEqual(rules(183))
  expect(early.headers.warning).toMatch(/^299 - "telemetry_event records are purged after 183 days\. /)
  expect((await hub.call('acme', 'GET', retentionPath)).headers.warning).toBe(early.headers.warning)
  expect((await put({ rules: rules(184) })).headers.warning).toBeUndefined()
})
