import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookAnswerSeconds } from '../../contract/limits.ts'
import { readAllowList } from '../../server/outbound/allow-list.ts'
import { createNameResolver } from '../../server/outbound/name-resolver.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { freePort } from '../support/free-port.ts'
import type { TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { type DeliveringProcess, startDeliveringProcess } from '../webhooks/delivering-process.ts'
import { answer, hang } from '../webhooks/receiver-behaviours.ts'
import { type DeliveryRow, type LabWebhook, startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

/** Dead endpoints: of the tenant of a healthy one, and of others. */
const habits = { hang: 20, refuse: 15, fail: 15, 'hang in DNS': 10 } as const
type Habit = keyof typeof habits
const backlog = 50
/** Messages to each healthy endpoint. */
const turns = 100
/** A message that waits for a dead receiver waits 15 seconds for one that hangs, scaled as the bound is. */
const answerMs = scaled(webhookAnswerSeconds * 1000)
const waitMsMin = answerMs / 3
/** After which it is given up, and said so. */
const arrivalMsMax = scaled(20_000)

let lab: WebhookLab
let dns: DnsServer
let worker: DeliveringProcess
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  dns = await startDnsServer((name) => (name.startsWith('silent') ? 'hang' : ['127.0.0.1']))
  const resolve = createNameResolver(readAllowList(['127.0.0.1']), { dns: { servers: [dns.address] } })
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
  for (const each of dead)
    await each.deliveriesWhen((rows) => rows.length === backlog && isBusy(each, rows), scaled(60_000))
  expect(new Set(dns.asked.filter((asked) => asked.startsWith('silent'))).size).toBe(2 * habits['hang in DNS'])
  const took = await tellInTurns(healthy)

  for (const tenant of Object.keys(healthy) as TestTenant[]) {
    expect(slowestHundredth(took[tenant]), `milliseconds of ${tenant}`).toBeLessThan(waitMsMin)
  }
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
      const behaviour = habit === 'hang' ? hang : answer(500)
      dead.push(await lab.connect({ tenant, behaviour, ...(url === undefined ? {} : { url }) }))
    }
  }
  return dead
}

/** A message to all endpoints of all tenants, one after the other: milliseconds until each healthy one had it. */
async function tellInTurns(healthy: Record<TestTenant, LabWebhook>): Promise<Record<TestTenant, number[]>> {
  const took: Record<TestTenant, number[]> = { acme: [], globex: [], cmode: [] }
  for (let turn = 1; turn <= turns; turn++) {
    await Promise.all(
      Object.values(healthy).map(async ({ tenant, receiving }) => {
        const count = receiving.received.length + 1
        const toldMs = performance.now()
        await lab.tell(tenant, 1)
        await receiving.count(count, arrivalMsMax)
        took[tenant].push(performance.now() - toldMs)
      }),
    )
  }
  return took
}

/** Of so few, all but one were quicker. */
function slowestHundredth(all: readonly number[]): number {
  return Math.round(all.toSorted((a, b) => a - b)[Math.ceil(all.length * 0.99) - 1]!)
}

function isBusy({ receiving }: LabWebhook, rows: readonly DeliveryRow[]): boolean {
  return receiving.openMost > 0 || rows.some(({ attempt_count }) => attempt_count > 0)
}
