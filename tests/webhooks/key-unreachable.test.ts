import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KeyService, startVault } from '../cmek/key-services.ts'
import { type ModeB, modeB, provisionPath } from '../cmek/mode-b-lab.ts'
import { type DeliveringProcess, startDeliveringProcess } from './delivering-process.ts'
import { messageOf, startWebhookLab, type WebhookLab, webhooksPath } from './webhook-lab.ts'

/** Secrets of endpoints of a Mode B tenant are sealed with the key of the customer. */

let vault: KeyService
let settings: Record<string, string>
let lab: WebhookLab
let b: ModeB
let process: DeliveringProcess | undefined

beforeAll(async () => {
  vault = await startVault('a-token', ['transit/one'])
  settings = { HUB_VAULT_ADDR: vault.url, HUB_VAULT_TOKEN: 'a-token', HUB_VAULT_KEYS: 'sealed=*' }
  lab = await startWebhookLab({ start: false, settings })
  b = await modeB(lab.hub, 'sealed')
  await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'one' } })
})
afterAll(async () => {
  await process?.stop()
  await lab.stop()
  await vault.close()
})

test('deliveries wait for a key that is away, say nothing of the receiver, and go on', async () => {
  const receiving = lab.receiver.at('/sealed')
  const made = await b.call('POST', webhooksPath, { url: receiving.url, events: ['skill.*'] })
  receiving.secrets = [made.body.secret]
  const path = `${webhooksPath}/${made.body.webhook_id}`
  const witness = await lab.connect()
  vault.fails = 503
  const asked = vault.requests.length
  const { outbox } = lab.hub.modules.webhooks
  await lab.hub.test.database.withTenant('sealed', (tx) => outbox.add(tx, [messageOf(), messageOf(), messageOf()]))
  await lab.tell('acme', 1)
  // Another process has nothing in memory.
  process = await startDeliveringProcess(lab.hub, settings)
  await witness.receiving.count(1)
  const unopened = 'could not open the signing secrets'
  await expect.poll(() => process?.warnings.filter((each) => each === unopened).length).toBe(2)
  expect(vault.requests.length).toBeGreaterThan(asked)
  expect(receiving.received).toEqual([])
  const { body } = await b.call('GET', path)
  expect(body.health).toMatchObject({ status: 'waiting', failures: 0, pending: 3 })
  const waiting = (await b.call('GET', `${path}/deliveries`)).body.items
  const untouched = { status: 'pending', attempt_count: 0 }
  expect(waiting).toMatchObject([untouched, untouched, untouched])

  vault.fails = undefined
  await receiving.count(3)
  await expect
    .poll(async () => (await b.call('GET', path)).body.health)
    .toMatchObject({ status: 'ok', failures: 0, pending: 0 })
  expect([receiving.duplicates(), receiving.faults]).toEqual([0, []])
})
