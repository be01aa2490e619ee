import { afterAll, beforeAll, expect, test } from 'vitest'
import { AllowList } from '../../server/outbound/address-guard.ts'
import { createNameResolver } from '../../server/outbound/name-resolver.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { freePort } from '../support/free-port.ts'
import type { TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { type DeliveringProcess, startDeliveringProcess } from '../webhooks/delivering-process.ts'
import { answer, type Behaviour, hang } from '../webhooks/receiver-behaviours.ts'
import { type DeliveryRow, type LabWebhook, startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

/** Dead endpoints: of the tenant of a healthy one, and of others. */
const habits = { hang: 20, refuse: 15, fail: 15, 'hang in DNS': 10 } as const
type Habit = keyof typeof habits
const backlog = 50
/** Messages to each healthy endpoint. */
const turns = 100
/** Longer than the test: a message that waits for a dead receiver never arrives. */
const answerMs = scaled(3_600_000)
/** Only ends what hangs. */
const arrivalMsMax = scaled(60_000)

/** Answers that failing receivers hold back. */
const failing: (() => void)[] = []
const failBetweenMessages: Behaviour = (response, request) => void failing.push(() => answer(500)(response, request))

let lab: WebhookLab
let dns: DnsServer
let worker: DeliveringProcess
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  dns = await startDnsServer((name) => (name.startsWith('silent') ? 'hang' : ['127.0.0.1']))
  const resolve = createNameResolver(new AllowList(['127.0.0.1']), { dns: { servers: [dns.address] } })
  // As in earnest, but for the DNS server.
  worker = await startDeliveringProcess(lab.hub, {}, { paceMsMax: 500 }, { resolve, timeoutMs: answerMs })
})
afterAll(async () => {
  await worker.stop()
  await lab.stop()
  await dns.stop()
})

test('sixty dead endpoints delay no healthy one, of their tenants or of others', async () => {
  const healthy: Record<TestTenant, LabWebhook> = {
    acme: await lab.connect({ tenant: 'acme' }),
    globex: await connectByName('globex'),
    cmode: await lab.connect({ tenant: 'cmode' }),
  }
  const dead = await connectDead()
  for (const { tenant, webhookId } of dead) await lab.tell(tenant, backlog, [webhookId])
  // All of them are being attempted.
  const reached = dead.slice(0, -habits['hang in DNS'])
  for (const each of reached)
    await each.deliveriesWhen((rows) => rows.length === backlog && isBusy(each, rows), arrivalMsMax)
  const silent = () => new Set(dns.asked.filter((asked) => asked.startsWith('silent'))).size
  await expect.poll(silent, { timeout: arrivalMsMax }).toBe(2 * habits['hang in DNS'])
  await tellInTurns(healthy)

  for (const { receiving } of Object.values(healthy)) {
    expect([receiving.faults, receiving.duplicates()]).toEqual([[], 0])
    expect(receiving.received.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
      Array.from({ length: turns }, (_, before) => before + 1),
    )
  }
  // However much waits, a receiver that does not answer is not flooded.
  for (const { receiving } of dead) expect(receiving.openMost).toBeLessThanOrEqual(16)
  expect((await dead[0]!.get()).health).toMatchObject({ pending: backlog + turns })
})

/** Its name is looked up for each message: it closes its connections. */
async function connectByName(tenant: TestTenant): Promise<LabWebhook> {
  const { url, path } = lab.receiver.at(`/by-name/${tenant}`)
  const named = url.replace('127.0.0.1', `${tenant}.test`)
  return lab.connect({ tenant, path, url: named, behaviour: answer(200, { connection: 'close' }) })
}

async function connectDead(): Promise<LabWebhook[]> {
  const refusing = `http://127.0.0.1:${await freePort()}`
  const elsewhere = (habit: Habit, at: number) =>
    ({ refuse: `${refusing}/${at}`, 'hang in DNS': `http://silent-${at}.test/` })[habit as string]
  const dead: LabWebhook[] = []
  for (const [habit, count] of Object.entries(habits) as [Habit, number][]) {
    for (let at = 0; at < count; at++) {
      const tenant: TestTenant = at % 2 === 0 ? 'acme' : 'globex'
      const url = elsewhere(habit, at)
      const behaviour = habit === 'hang' ? hang : failBetweenMessages
      dead.push(await lab.connect({ tenant, behaviour, ...(url === undefined ? {} : { url }) }))
    }
  }
  return dead
}

/**
 * Sends messages to all endpoints of all tenants, one after the other. Dead receivers answer between two messages only, or
 * never: what arrives at a healthy one has waited for none of them.
 */
async function tellInTurns(healthy: Record<TestTenant, LabWebhook>): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) {
    await Promise.all(
      Object.values(healthy).map(async ({ tenant, receiving }) => {
        await lab.tell(tenant, 1)
        await receiving.count(turn, arrivalMsMax)
      }),
    )
    for (const fail of failing.splice(0)) fail()
  }
}

function isBusy({ receiving }: LabWebhook, rows: readonly DeliveryRow[]): boolean {
  return receiving.openMost > 0 || rows.some(({ attempt_count }) => attempt_count > 0)
}
