import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { must, webhooksPath } from '../api/webhook-cases.ts'
import { eventsOf } from '../auth/auth-lab.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type AlertLab, brief, clean, errorRate, failed, startAlertLab } from './alert-lab.ts'
import { takeDescribed } from './queued-messages.ts'

const time = fakeClock()
let lab: AlertLab
beforeAll(async () => {
  lab = await startAlertLab({ poolSize: 8, time })
})
afterEach(() => clean(lab, 'acme'))
afterAll(() => lab.stop())

const rule = { ...errorRate, above: 0.5, recovers_at: 0.2, window_minutes: 15 }

test('an alert closes once it was at or below what it recovers at for a whole window, and says so once', async () => {
  const id = await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  const [opened] = await lab.look(2)
  await lab.ingest(10, 16, failed)
  await lab.ingest(20, 16)
  // 0.33 is not above the threshold any more, and not recovered either.
  expect(await lab.look(17)).toEqual([])
  await lab.ingest(20, 18)
  expect(await lab.look(20)).toEqual([])
  expect(await lab.open(id)).toMatchObject([{ value: 0.2, recovering_since: '2026-01-05T12:20:00.000000Z' }])
  await lab.ingest(20, 31)
  for (const minute of [29, 32, 34.9]) expect(await lab.look(minute)).toEqual([])
  const [closed, ...others] = await lab.look(35)
  expect(others).toEqual([])
  expect(closed).toMatchObject({
    kind: 'skill.alert_closed',
    occurredAt: '2026-01-05T12:35:00.000000Z',
    data: {
      ...(opened!.data as object),
      value: 0,
      invocations: 20,
      window: { from: '2026-01-05T12:30:00.000000Z', to: '2026-01-05T12:45:00.000000Z' },
      closed_at: '2026-01-05T12:35:00.000000Z',
    },
    webhookIds: [id],
  })
  expect(await lab.look(36)).toEqual([])
  expect(await lab.open(id)).toEqual([])
})

test('what gets worse again on the way has to recover for a whole window anew', async () => {
  await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  await lab.look(2)
  await lab.ingest(20, 16)
  await lab.look(17)
  await lab.ingest(8, 20, failed)
  expect(await lab.look(21)).toEqual([])
  await lab.ingest(20, 22)
  await lab.look(23)
  await lab.ingest(20, 31)
  await lab.look(32)
  expect(await lab.look(37.9)).toEqual([])
  expect(brief(await lab.look(38))).toEqual([['closed', 'sum-up']])
})

test('where nothing is left in the window it recovers, and cost is none', async () => {
  await lab.watch([rule, { metric: 'cost_usd_per_hour', group_by: 'user', above: 1, window_minutes: 15 }])
  await lab.ingest(20, 1, { ...failed, cost_usd_estimate: 0.1 })
  expect(await lab.look(2)).toHaveLength(2)
  expect(await lab.look(15)).toEqual([])
  const closed = await lab.look(30)
  const seen = closed.map(({ kind, data, userId }) => [kind, data.value, data.invocations, userId ?? 'nobody'])
  expect(seen.sort()).toEqual([
    ['skill.alert_closed', 0, 0, 'nobody'],
    ['skill.alert_closed', 0, 0, 'user:kim@example.com'],
  ])
})

test('few invocations open nothing, but they keep an alert open, and they let it recover', async () => {
  await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  await lab.look(2)
  await lab.ingest(1, 16, failed)
  expect(await lab.look(17)).toEqual([])
  await lab.ingest(1, 31)
  expect(await lab.look(32)).toEqual([])
  await lab.ingest(1, 46)
  expect(brief(await lab.look(47))).toEqual([['closed', 'sum-up']])
})

test('nobody knows what was when nobody looked for longer than a window', async () => {
  await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  await lab.look(2)
  expect(await lab.look(16)).toEqual([])
  expect(await lab.look(40)).toEqual([])
  expect(brief(await lab.look(55))).toEqual([['closed', 'sum-up']])
})

test('late events inside the window keep an alert open, and outside of it change nothing', async () => {
  await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  await lab.look(2)
  await lab.look(15)
  await lab.ingest(20, 14, failed)
  expect(await lab.look(16)).toEqual([])
  await lab.ingest(20, 16, failed)
  expect(await lab.look(29)).toEqual([])
  await lab.look(30)
  expect(brief(await lab.look(45))).toEqual([['closed', 'sum-up']])
})

test('a new episode has another id', async () => {
  await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  const sent = [...(await lab.look(2)), ...(await lab.look(15)), ...(await lab.look(30))]
  await lab.ingest(20, 31, failed)
  sent.push(...(await lab.look(32)))
  expect(brief(sent).map(([kind]) => kind)).toEqual(['opened', 'closed', 'opened'])
  const [first, second, third] = sent.map(({ data }) => data.alert_id)
  expect([first === second, second === third]).toEqual([true, false])
})

test('a rule that is changed or removed ends its alerts at once; one that means the same does not', async () => {
  const id = await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  const [opened] = await lab.look(2)
  await lab.change(id, {
    alerts: [
      { min_invocations: 20, ...rule },
      { ...rule, group_by: 'archetype' },
    ],
  })
  expect(await lab.open(id)).toHaveLength(1)
  expect(brief(await lab.look(3))).toEqual([['opened', 'analyst']])
  await lab.change(id, { alerts: [{ ...rule, above: 0.6 }] })
  expect(await lab.open(id)).toEqual([])
  const sent = await takeDescribed(lab.hub, 'acme')
  expect(brief(sent).sort()).toEqual([
    ['closed', 'analyst'],
    ['closed', 'sum-up'],
  ])
  const { data, webhookIds } = sent.find((message) => message.data.alert_id === opened!.data.alert_id)!
  expect(data).toEqual({ ...opened!.data, closed_at: expect.any(String) })
  expect(webhookIds).toEqual([id])
  expect(brief(await lab.look(4))).toEqual([['opened', 'sum-up']])
  await lab.change(id, { alerts: [], events: ['user.*'] })
  expect(await lab.open(id)).toEqual([])
  expect(brief(await takeDescribed(lab.hub, 'acme'))).toEqual([['closed', 'sum-up']])
  expect(await lab.look(5)).toEqual([])
})

test('the alerts of an endpoint that is disabled or removed end without a word, and open anew', async () => {
  const [disabled, removed] = [await lab.watch([rule]), await lab.watch([rule])]
  await lab.ingest(20, 1, failed)
  const before = await lab.look(2)
  expect(before).toHaveLength(2)
  await lab.change(disabled, { enabled: false })
  expect(await lab.open(disabled)).toEqual([])
  await must(lab.hub, 'acme', 'DELETE', `${webhooksPath}/${removed}`)
  expect(await lab.look(3)).toEqual([])
  await lab.change(disabled, { enabled: true })
  const after = await lab.look(4)
  expect(brief(after)).toEqual([['opened', 'sum-up']])
  expect(before.map(({ data }) => data.alert_id)).not.toContain(after[0]!.data.alert_id)
})

test('of an endpoint that the service disabled nothing is open once it is enabled, and what is exceeded opens anew', async () => {
  const id = await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  const [first] = await lab.look(2)
  const { endpoints } = lab.hub.modules.webhooks
  const tenant = await lab.hub.tenant('acme')
  await lab.hub.test.database.withTenant('acme', (tx) => endpoints.disable(tx, tenant, id, 'gone'))
  await lab.change(id, { enabled: true })
  expect(await lab.open(id)).toEqual([])
  const [again, ...others] = await lab.look(3)
  expect([brief([again!]), others]).toEqual([[['opened', 'sum-up']], []])
  expect(again!.data.alert_id).not.toBe(first!.data.alert_id)
  await lab.hub.test.database.withTenant('acme', (tx) => endpoints.disable(tx, tenant, id, 'gone'))
  expect(await lab.look(4)).toEqual([])
  expect(await lab.open(id)).toEqual([])
})

/** How many events about opened alerts the audit log has. */
async function openedEvents(): Promise<number> {
  return (await eventsOf(lab.hub.test.database, 'acme')).filter(({ event_kind }) => event_kind === 'alert.opened')
    .length
}

test('several processes that look at the same time tell once', async () => {
  // Past the bound of events within an hour, which earlier alerts count against.
  time.step({ ms: 3_600_001 })
  const before = await openedEvents()
  await lab.watch([rule, { ...rule, group_by: 'archetype' }])
  await lab.ingest(20, 1, failed)
  const acme = await lab.hub.tenant('acme')
  const processes = Array.from({ length: 4 }, () => lab.process())
  const looks = async (minute: number) => {
    lab.minute = minute
    for (let times = 0; times < 3; times += 1) await Promise.all(processes.map((each) => each.evaluate(acme)))
    return brief(await takeDescribed(lab.hub, 'acme')).sort()
  }
  const ofBoth = (kind: string) => [
    [kind, 'analyst'],
    [kind, 'sum-up'],
  ]
  expect([await looks(2), await looks(15), await looks(30)]).toEqual([ofBoth('opened'), [], ofBoth('closed')])
  expect((await openedEvents()) - before).toBe(2)
})

test('a process that fails at the end of a look has told nothing, and the next one does', async () => {
  time.step({ ms: 3_600_001 })
  const before = await openedEvents()
  const id = await lab.watch([rule])
  await lab.ingest(20, 1, failed)
  const acme = await lab.hub.tenant('acme')
  const { outbox } = lab.hub.modules.webhooks
  const failing = lab.process({
    outbox: {
      async add(tx, messages) {
        await outbox.add(tx, messages)
        if (messages.length > 0) throw new Error('killed')
      },
    },
  })
  lab.minute = 2
  await expect(failing.evaluate(acme)).rejects.toThrow('killed')
  expect([await takeDescribed(lab.hub, 'acme'), await lab.open(id), await openedEvents()]).toEqual([[], [], before])
  expect(brief(await lab.look(2))).toEqual([['opened', 'sum-up']])
  await lab.look(15)
  lab.minute = 30
  await expect(failing.evaluate(acme)).rejects.toThrow('killed')
  expect([await takeDescribed(lab.hub, 'acme'), (await lab.open(id)).length]).toEqual([[], 1])
  expect(brief(await lab.look(30))).toEqual([['closed', 'sum-up']])
})

test('a tenant without rules and alerts has nothing to look at', async () => {
  const acme = await lab.hub.tenant('acme')
  const evaluator = lab.process()
  await lab.watch([], { events: ['skill.*'] })
  expect(await evaluator.evaluate(acme)).toBe(false)
  await lab.watch([rule])
  expect(await evaluator.evaluate(acme)).toBe(true)
})
