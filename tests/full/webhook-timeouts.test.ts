import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookResponseSeconds } from '../../contract/limits.ts'
import { scaled } from '../support/machine-speed.ts'
import { answerAfter, type Behaviour, dripHead, earlyHintsForever, hang } from '../webhooks/receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

const answerMs = webhookResponseSeconds * 1000

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

async function attempted(behaviour: Behaviour) {
  const webhook = await lab.connect({ behaviour })
  await lab.tell('acme', 1, [webhook.webhookId])
  const isAttempted = (rows: { attempt_count: number }[]) => rows[0]?.attempt_count === 1
  const [row] = await webhook.deliveriesWhen(isAttempted, answerMs + scaled(10_000))
  return { webhook, row: row! }
}

test.concurrent.each<[string, Behaviour]>([
  ['does not answer', hang],
  ['sends its head byte by byte', dripHead(200)],
  ['sends interim answers without end', earlyHintsForever(200)],
  ['answers too late', answerAfter(answerMs + 2000)],
])('a receiver that %s has its time, and no more', async (_name, behaviour) => {
  const { webhook, row } = await attempted(behaviour)
  expect(row).toMatchObject({ status: 'failed', tries: 1, attempts: [{ error: { code: 'timeout' } }] })
  expect(row.attempts[0]).not.toHaveProperty('response')
  expect(row.attempts[0]!.duration_ms).toBeGreaterThanOrEqual(answerMs - 100)
  await webhook.receiving.until(({ open }) => open === 0)
})

test.concurrent('a receiver that answers just in time has taken it', async () => {
  const { row } = await attempted(answerAfter(answerMs - 2000))
  expect(row).toMatchObject({ status: 'delivered', tries: 1, attempts: [{ response: { status: 200 } }] })
})
