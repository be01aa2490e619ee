import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type DeliveringProcess, startDeliveringProcess } from './delivering-process.ts'
import { answer, answerAfter, type Behaviour } from './receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
let process: DeliveringProcess
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  process = await startDeliveringProcess(lab.hub)
})
afterEach(() => process.setDatabaseAway(false))
afterAll(async () => {
  await process.stop()
  await lab.stop()
})

/** Holds requests until they are to be answered, from then on all at once. */
function holding(then: Behaviour) {
  let held: (() => void)[] | undefined = []
  const behaviour: Behaviour = (...call) => (held ? void held.push(() => then(...call)) : then(...call))
  const release = () => {
    for (const answerNow of held ?? []) answerNow()
    held = undefined
  }
  return { behaviour, release }
}

const unkept = 'delivery outcomes cannot be stored while the database is unavailable'
const count = 100

test('what became of deliveries while the database was away is kept afterwards, and none is sent twice', async () => {
  const [good, bad] = [holding(answerAfter(10)), holding(answerAfter(10, answer(500)))]
  const sound = await lab.connect({ behaviour: good.behaviour })
  const failing = await lab.connect({ behaviour: bad.behaviour })
  const both = [sound, failing]
  await lab.tell(
    'acme',
    count,
    both.map(({ webhookId }) => webhookId),
  )
  process.wake('acme')
  await Promise.all(both.map(({ receiving }) => receiving.count(2)))
  process.setDatabaseAway(true)
  good.release()
  bad.release()
  const warned = () => process.warnings.filter((each) => each === unkept).length
  // What was begun before the first write failed may still be on its way; the second is tried half a second later.
  await expect.poll(warned).toBeGreaterThanOrEqual(2)
  await Promise.all(both.map(({ receiving }) => receiving.until(({ open }) => open === 0)))
  const sent = both.map(({ receiving }) => receiving.received.length)
  // No more than can be kept is begun.
  const soFar = warned()
  await expect.poll(warned).toBeGreaterThan(soFar)
  expect(both.map(({ receiving }) => receiving.received.length)).toEqual(sent)
  expect(Math.max(...sent)).toBeLessThan(count)
  for (const { deliveries } of both)
    expect((await deliveries()).map(({ attempt_count }) => attempt_count)).toEqual(Array(count).fill(0))

  process.setDatabaseAway(false)
  const delivered = await sound.deliveriesWhen((rows) => rows.every(({ status }) => status === 'delivered'))
  await failing.deliveriesWhen((rows) => rows.every(({ status }) => status === 'failed'))
  expect(delivered.map(({ attempt_count }) => attempt_count)).toEqual(Array(count).fill(1))
  expect(sound.receiving.received).toHaveLength(count)
  expect(sound.receiving.duplicates()).toBe(0)
  // On a slow machine the first ones are due again meanwhile, so there may be more attempts, each of them stored.
  const unstored = async () => {
    const attempts = (await failing.deliveries()).reduce((sum, { attempt_count }) => sum + attempt_count, 0)
    return failing.receiving.received.length - attempts
  }
  await expect.poll(unstored).toBe(0)
  expect((await failing.get()).health.failures).toBeGreaterThanOrEqual(count)
})
