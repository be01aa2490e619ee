import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { webhookAlertReadingsMax } from '../../contract/limits.ts'
import { pointersOf } from '../api/connector-cases.ts'
import { must, webhookBody, webhooksPath } from '../api/webhook-cases.ts'
import { type AlertLab, brief, clean, errorRate, failed, startAlertLab } from './alert-lab.ts'
import { takeDescribed } from './queued-messages.ts'

let lab: AlertLab
beforeAll(async () => {
  lab = await startAlertLab({ poolSize: 8 })
})
afterEach(() => clean(lab, 'acme'))
afterAll(() => lab.stop())

const rules = (['skill', 'archetype', 'user'] as const).map((group_by) => ({ ...errorRate, group_by }))

test('what does not fit into a turn is looked at in the next ones, each group once', async () => {
  const [first, second] = [await lab.watch(rules), await lab.watch(rules.slice(2))]
  const people = Array.from({ length: 30 }, (_, at) => `user:${String(at).padStart(2, '0')}`)
  await lab.ingestEach(
    people.flatMap((user_id) => Array(20).fill({ ...failed, user_id })),
    1,
  )
  await lab.hub.modules.rollups.rollups.settle('acme')
  // One that is not folded yet, before and behind the others.
  await lab.ingest(20, 1, { ...failed, user_id: 'user:!' })
  await lab.ingest(20, 1, { ...failed, user_id: 'user:~' })
  const evaluator = lab.process()
  lab.minute = 2
  const messages: ReturnType<typeof brief> = []
  let turns = 0
  while (messages.length < 2 + 2 * 32 && turns < 200) {
    expect(await evaluator.evaluate(await lab.hub.tenant('acme'), 0)).toBe(true)
    turns += 1
    messages.push(...brief(await takeDescribed(lab.hub, 'acme')))
  }
  expect(turns).toBeGreaterThanOrEqual(3)
  const keys = ['user:!', ...people, 'user:~']
  expect(messages.map(([, key]) => key).sort()).toEqual(['analyst', 'sum-up', ...keys, ...keys].sort())
  expect([(await lab.open(first)).length, (await lab.open(second)).length]).toEqual([34, 32])
})

test('a tenant may not have rules that take too many readings, and what it has it can still make less', async () => {
  const filtered = (at: number) => ({ filters: { skill_ids: [`skill-${at}`] } })
  const ids: string[] = []
  // By skill they share one reading; by person and archetype each takes its own.
  for (let at = 0; at < (webhookAlertReadingsMax - 2) / 2; at += 1) ids.push(await lab.watch(rules, filtered(at)))
  const add = (change: object) =>
    lab.hub.call('acme', 'POST', webhooksPath, { body: webhookBody({ events: [], ...change }) })
  const refused = await add({ alerts: rules, ...filtered(99) })
  expect([refused.status, pointersOf(refused)]).toEqual([400, ['/alerts']])
  expect(refused.text).toContain('Use fewer different filters')
  const same = await add({ alerts: rules.toReversed(), ...filtered(0) })
  expect(same.status).toBe(201)
  const one = await add({ alerts: rules.slice(2), ...filtered(99) })
  expect(one.status).toBe(201)
  const path = `${webhooksPath}/${one.body.webhook_id}`
  expect(pointersOf(await lab.hub.call('acme', 'PATCH', path, { body: { alerts: rules } }))).toEqual(['/alerts'])
  await must(lab.hub, 'acme', 'PATCH', path, { body: { alerts: rules.slice(0, 1) } })
  await must(lab.hub, 'acme', 'PATCH', `${webhooksPath}/${ids[0]}`, { body: { alerts: rules.slice(1) } })
})
