import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { alertEventsPerHour } from '../../contract/limits.ts'
import { listNotifications } from '../api/notification-cases.ts'
import { must, webhooksPath } from '../api/webhook-cases.ts'
import { eventsOf } from '../auth/auth-lab.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type AlertLab, brief, clean, errorRate, failed, startAlertLab } from './alert-lab.ts'
import { takeDescribed } from './queued-messages.ts'

const time = fakeClock()
let lab: AlertLab
beforeAll(async () => {
  lab = await startAlertLab({ time })
})
afterEach(() => clean(lab, 'acme', 'globex'))
afterAll(() => lab.stop())

const settle = () => lab.hub.modules.rollups.rollups.settle('acme')

test('an error rate above the threshold is told once, with the window that shows it', async () => {
  const id = await lab.watch([errorRate])
  await lab.ingest(20, 5)
  await lab.ingest(6, 6, failed)
  const [message, ...others] = await lab.look(7)
  expect(others).toEqual([])
  expect(message).toEqual({
    messageId: expect.any(String),
    kind: 'skill.alert_opened',
    occurredAt: '2026-01-05T12:07:00.000000Z',
    data: {
      alert_id: expect.any(String),
      metric: 'error_rate',
      group_by: 'skill',
      key: 'sum-up',
      value: 0.230769,
      threshold: 0.2,
      window_minutes: 30,
      window: { from: '2026-01-05T11:45:00.000000Z', to: '2026-01-05T12:15:00.000000Z' },
      invocations: 26,
      opened_at: '2026-01-05T12:07:00.000000Z',
    },
    webhookIds: [id],
  })
  for (const minute of [7.2, 7.4, 8]) expect(await lab.look(minute)).toEqual([])
  expect(await lab.open(id)).toHaveLength(1)
})

test('at the threshold, and with too few invocations, there is no alert', async () => {
  const id = await lab.watch([errorRate, { ...errorRate, group_by: 'user', min_invocations: 100 }])
  await lab.ingest(16, 1)
  await lab.ingest(4, 1, failed)
  expect(await lab.look(2)).toEqual([])
  await lab.ingest(19, 1, { ...failed, skill_id: 'translate' })
  expect(await lab.look(2)).toEqual([])
  await lab.ingest(1, 1, { skill_id: 'translate' })
  expect(brief(await lab.look(2))).toEqual([['opened', 'translate']])
  expect(await lab.open(id)).toMatchObject([{ key: 'translate', value: 0.95, invocations: 20 }])
})

test('the 95th percentile of latencies, by archetype', async () => {
  await lab.watch([{ metric: 'latency_p95_ms', group_by: 'archetype', above: 5000, window_minutes: 15 }])
  await lab.ingest(94, 1, { archetype_id: 'lawyer', latency_ms: 100 })
  await lab.ingest(6, 2, { archetype_id: 'lawyer', latency_ms: 9000 })
  await lab.ingest(96, 1, { latency_ms: 4000 })
  await lab.ingest(4, 2, { latency_ms: 20_000 })
  const messages = await lab.look(3)
  expect(brief(messages)).toEqual([['opened', 'lawyer']])
  expect(Math.abs(Number(messages[0]!.data.value) - 9000)).toBeLessThan(9000 / 100)
})

test('the cost of an hour, by person: the greater one of the estimate and what was computed', async () => {
  const rule = { metric: 'cost_usd_per_hour', group_by: 'user', above: 10, window_minutes: 30 } as const
  const id = await lab.watch([rule])
  await lab.ingest(1, 1, { user_id: 'user:ada', cost_usd_estimate: 5 })
  await lab.ingest(1, 1, { user_id: 'user:bob', cost_usd_estimate: 5.01 })
  await lab.ingest(1, 1, { user_id: 'user:eve', cost_usd_estimate: 0, tokens_in: 24_000_000, tokens_out: 0 })
  const messages = await lab.look(2)
  expect(messages.map(({ data, userId, webhookIds }) => [userId, data.key, data.value, webhookIds])).toEqual([
    ['user:eve', 'user:eve', 12, [id]],
    ['user:bob', 'user:bob', 10.02, [id]],
  ])
})

test('a window is the running quarter of an hour with those before it, whenever events come in', async () => {
  await lab.watch([errorRate])
  await lab.ingest(30, -15.01, failed)
  await lab.ingest(30, 15, failed)
  expect(await lab.look(14.9)).toEqual([])
  await lab.ingest(20, -15, { ...failed, skill_id: 'translate' })
  expect(brief(await lab.look(14.9))).toEqual([['opened', 'translate']])
  expect(brief(await lab.look(15))).toEqual([['opened', 'sum-up']])
})

test('figures are the same before they are folded, in part and after it, and of closed days', async () => {
  const rule = { ...errorRate, above: 0.5, window_minutes: 1440 }
  const p95 = { metric: 'latency_p95_ms', group_by: 'skill', above: 3000, window_minutes: 1440 } as const
  const latency = { latency_ms: 4000 }
  await lab.ingest(10, -1000, { ...failed, ...latency })
  const first = await lab.watch([rule, p95])
  await lab.ingest(15, -30, { ...failed, ...latency })
  const sent = [await lab.look(1)]
  await settle()
  await lab.watch([rule, p95])
  sent.push(await lab.look(1))
  await lab.ingest(5, 0, { ...failed, ...latency })
  await lab.watch([rule, p95])
  sent.push(await lab.look(1))
  const seen = sent.map((messages) => messages.map(({ data }) => [data.metric, data.value, data.invocations]))
  const [p95Value] = seen[0]!.filter(([metric]) => metric === 'latency_p95_ms').map(([, value]) => value)
  const expected = (count: number) => [
    ['error_rate', 1, count],
    ['latency_p95_ms', p95Value, count],
  ]
  expect(seen.map((rows) => rows.sort())).toEqual([expected(25), expected(25), expected(30)])
  expect(await lab.open(first)).toHaveLength(2)
})

test('a window that is a whole UTC day is read from the rows of the day', async () => {
  await lab.ingest(25, -60, failed)
  await settle()
  for (const day of await lab.hub.modules.rollups.rollups.daysToClose('acme', 0))
    await lab.hub.modules.rollups.rollups.closeDay('acme', day)
  await lab.watch([{ ...errorRate, window_minutes: 1440 }])
  expect((await lab.look(719)).map(({ data }) => [data.value, data.invocations])).toEqual([[1, 25]])
})

test('filters of the endpoint leave out what is not of their skills and archetypes, however it is grouped', async () => {
  const rules = (['skill', 'user', 'archetype'] as const).map((group_by) => ({ ...errorRate, group_by }))
  const [skill, archetype] = [
    await lab.watch(rules, { filters: { skill_ids: ['translate', 'other'] } }),
    await lab.watch(rules, { filters: { archetype_ids: ['lawyer'] } }),
  ]
  await lab.ingest(30, 1, { ...failed, user_id: 'user:ada' })
  await lab.ingest(30, 1, { skill_id: 'translate', archetype_id: 'lawyer', user_id: 'user:ada' })
  expect(await lab.look(2)).toEqual([])
  await lab.ingest(30, 1, { ...failed, skill_id: 'translate', user_id: 'user:bob' })
  await settle()
  const sent = (await lab.look(2)).map(({ data, webhookIds }) => [webhookIds, data.key, data.value, data.invocations])
  expect(sent).toHaveLength(3)
  expect(sent).toEqual(
    expect.arrayContaining([
      [[skill], 'translate', 0.5, 60],
      [[skill], 'user:bob', 1, 30],
      [[skill], 'analyst', 1, 30],
    ]),
  )
  expect(await lab.open(archetype)).toEqual([])
})

test('an endpoint is told of its rules whatever it names, and of no other', async () => {
  const [mine, named] = [await lab.watch([errorRate]), await lab.watch([], { events: ['skill.*'] })]
  await lab.watch([errorRate], {}, 'globex')
  await lab.ingest(30, 1, failed)
  await takeDescribed(lab.hub, 'acme')
  expect((await lab.look(2)).map(({ webhookIds }) => webhookIds)).toEqual([[mine]])
  expect(await lab.look(2, 'globex')).toEqual([])
  expect(await lab.open(named)).toEqual([])
})

test('every group is looked at, and the worst are told where there are more than may be open', async () => {
  const id = await lab.watch([{ metric: 'cost_usd_per_hour', group_by: 'skill', above: 0.01, window_minutes: 60 }])
  const superuser = await lab.hub.superuserClient()
  await lab.ingest(1, 1, { cost_usd_estimate: 50 })
  await settle()
  // As many rows of the rollups as that many skills would have made.
  await superuser.query(`insert into hub.telemetry_rollups
    select tenant_id, grain, view, first_quarter, substring(sha256(n::text::bytea) for 16),
      'a-' || lpad(n::text, 6, '0'), archetype_id, user_id, llm_platform, llm_model, invocations, failures,
      tokens_in, tokens_out, 100000, cost_computed_micros, unpriced, latency
    from hub.telemetry_rollups, generate_series(1, 10500) n
    where tenant_id = 'acme' and grain = 'quarter' and view = 'skill'`)
  const messages = await lab.look(2)
  expect(messages).toHaveLength(1000)
  expect(messages[0]!.data).toMatchObject({ key: 'sum-up', value: 50 })
  expect(await lab.look(3)).toEqual([])
  expect(await lab.open(id)).toHaveLength(1000)
})

test('an opened alert is an event and a notification of its tenant alone, names no person, and is bounded by hour', async () => {
  const opened = async (tenant: 'acme' | 'globex') =>
    (await eventsOf(lab.hub.test.database, tenant)).filter(({ event_kind }) => event_kind === 'alert.opened')
  const newOf = async (minute: number) => {
    const before = (await opened('globex')).length
    await lab.look(minute, 'globex')
    return (await opened('globex')).slice(before)
  }
  const id = await lab.watch([errorRate], {}, 'globex')
  const before = (await opened('acme')).length
  await lab.ingest(20, 1, failed, 'globex')
  const [event, ...others] = await newOf(2)
  expect([others, await newOf(3), (await opened('acme')).length]).toEqual([[], [], before])
  expect(event).toMatchObject({ event_kind: 'alert.opened', subject: `webhook:${id}` })
  expect(event!.details).toEqual({
    ...{ alert_id: expect.any(String), metric: 'error_rate', group_by: 'skill', key: 'sum-up', value: 1 },
    ...{ threshold: 0.2, window_minutes: 30, invocations: 20, opened_at: '2026-01-05T12:02:00.000000Z' },
    actor: 'service:alerts',
  })
  const { items } = (await listNotifications(lab.hub, 'globex')).body
  expect(items).toMatchObject([{ event_kind: 'alert.opened', subject: `webhook:${id}`, read: false }])

  const people = Array.from({ length: alertEventsPerHour }, (_, at) => `user:person-${at}`)
  const byPerson = { metric: 'cost_usd_per_hour', group_by: 'user', above: 1, window_minutes: 30 } as const
  const personWebhookId = await lab.watch([byPerson], {}, 'globex')
  await lab.ingestEach(
    people.map((user_id, at) => ({ user_id, cost_usd_estimate: 5 + at })),
    4,
    'globex',
  )
  const rest = (await newOf(5)).map(({ details }) => details as { value: number; limit_reached?: true })
  expect((await lab.open(personWebhookId, 'globex')).length).toBe(people.length)
  expect(JSON.stringify(rest)).not.toContain('person-')
  // The least of the people has no event. An hour costs twice the half hour.
  const worst = Array.from({ length: alertEventsPerHour - 1 }, (_, at) => 2 * (5 + alertEventsPerHour - 1 - at))
  expect(rest.map(({ value }) => value)).toEqual(worst)
  expect(rest.flatMap(({ limit_reached }, at) => (limit_reached ? [at] : []))).toEqual([rest.length - 1])
  await lab.watch([{ ...errorRate, group_by: 'archetype' }], {}, 'globex')
  expect(await newOf(6)).toEqual([])
  time.step({ ms: 3_600_001 })
  try {
    await lab.watch([{ ...errorRate, above: 0.1 }], {}, 'globex')
    expect(await newOf(7)).toHaveLength(1)
  } finally {
    time.step({ ms: -3_600_001 })
  }
})

test('rules are looked at in the background', async () => {
  const id = await lab.watch([{ ...errorRate, window_minutes: 30 }])
  const now = Date.now()
  await lab.ingest(30, (now - Date.parse('2026-01-05T12:00:00Z')) / 60_000, failed)
  lab.hub.modules.webhooks.start()
  try {
    await expect.poll(() => lab.open(id), { interval: 50 }).toMatchObject([{ key: 'sum-up' }])
  } finally {
    await lab.hub.modules.webhooks.stop()
  }
  await must(lab.hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
})
