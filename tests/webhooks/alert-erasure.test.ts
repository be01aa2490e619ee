import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { pathOf } from '../api/record-cases.ts'
import { must } from '../api/webhook-cases.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type AlertLab, brief, clean, failed, startAlertLab } from './alert-lab.ts'
import { takeDescribed } from './queued-messages.ts'

const time = fakeClock()
let lab: AlertLab
beforeAll(async () => {
  lab = await startAlertLab({ time, poolSize: 8 })
})
afterEach(() => clean(lab, 'acme'))
afterAll(() => lab.stop())

const ofPeople = { metric: 'error_rate', group_by: 'user', above: 0.2, window_minutes: 15 } as const
const keys = async (id: string) => (await lab.open(id)).map(({ key }) => key).sort()

async function erase(ids: readonly string[]): Promise<void> {
  for (const id of ids) await must(lab.hub, 'acme', 'DELETE', pathOf(id, '?reason=x'))
  time.step({ days: 31 })
  const erased = await lab.hub.modules.hub.erasure.run(await lab.hub.tenant('acme'))
  expect(erased).toEqual({ erased: ids.length, held: 0 })
}

test('with the last record of a person the open alert about them goes, and nothing tells of it', async () => {
  const id = await lab.watch([ofPeople])
  const ada = await lab.ingest(20, 1, { ...failed, user_id: 'user:ada' })
  const bob = await lab.ingest(20, 1, { ...failed, user_id: 'user:bob' })
  expect(await lab.look(2)).toHaveLength(2)
  await erase([...ada, ...bob.slice(1)])
  expect(await keys(id)).toEqual(['user:bob'])
  // Their sums stay, under a name that nobody has.
  expect(await lab.look(3)).toEqual([])
  expect(await keys(id)).toEqual(['user:bob'])
  await erase(bob.slice(0, 1))
  for (const minute of [4, 15, 30]) expect(await lab.look(minute)).toEqual([])
  expect(await keys(id)).toEqual([])
})

test('a person who is erased between what a look has read and what it changes is named by nobody', async () => {
  const id = await lab.watch([ofPeople])
  const ada = await lab.ingest(20, 1, { ...failed, user_id: 'user:ada' })
  await lab.ingest(20, 1, { ...failed, user_id: 'user:bob' })
  const { windows } = lab.hub.modules.telemetry
  const outside = AsyncLocalStorage.snapshot()
  let reads = 0
  const evaluator = lab.process({
    windows: {
      async eachGroup(tx, question, reading) {
        const rest = await windows.eachGroup(tx, question, reading)
        reads += 1
        // In transactions of its own, while the look still has its snapshot.
        await outside(() => erase(ada))
        return rest
      },
    },
  })
  lab.minute = 2
  await evaluator.evaluate(await lab.hub.tenant('acme'))
  expect([reads, await keys(id)]).toEqual([1, ['user:bob']])
  expect(brief(await takeDescribed(lab.hub, 'acme'))).toEqual([['opened', 'user:bob']])
})

test('an alert about a skill that has the name of a person is none about the person', async () => {
  const id = await lab.watch([{ ...ofPeople, group_by: 'skill' }])
  const ids = await lab.ingest(20, 1, { ...failed, user_id: 'user:ada' })
  await lab.look(2)
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.webhook_alerts set group_key = 'user:ada' where webhook_id = $1`, [id])
  await erase(ids)
  expect(await keys(id)).toEqual(['user:ada'])
})
