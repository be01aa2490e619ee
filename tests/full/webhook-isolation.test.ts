import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../support/hub.ts'
import { freePort } from '../valkey/valkey-server.ts'
import { answer, hang } from '../webhooks/receiver-behaviours.ts'
import { type DeliveryRow, type LabWebhook, startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

/** Dead endpoints: of the tenant of a healthy one, and of others. */
const habits = { hang: 20, refuse: 15, fail: 15 } as const
const backlog = 50
const turns = 20
/** Far below the 15 s that a receiver has to answer, and far above what a busy machine takes. */
const arrivalMsMax = 5000

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

test('fifty dead endpoints delay no healthy one, of their tenants or of others', async () => {
  const refusing = `http://127.0.0.1:${await freePort()}`
  const dead: LabWebhook[] = []
  for (const [habit, count] of Object.entries(habits)) {
    for (let at = 0; at < count; at++) {
      const tenant: TestTenant = at % 2 === 0 ? 'acme' : 'globex'
      const behaviour = habit === 'hang' ? hang : answer(500)
      dead.push(await lab.connect({ tenant, behaviour, ...(habit === 'refuse' ? { url: `${refusing}/${at}` } : {}) }))
    }
  }
  const healthy: Record<TestTenant, LabWebhook> = {
    acme: await lab.connect({ tenant: 'acme' }),
    globex: await lab.connect({ tenant: 'globex' }),
    cmode: await lab.connect({ tenant: 'cmode' }),
  }
  for (const { tenant, webhookId } of dead) await lab.tell(tenant, backlog, [webhookId])
  // All of them are being attempted.
  for (const each of dead) await each.deliveriesWhen((rows) => rows.length === backlog && isBusy(each, rows), 60_000)
  for (let turn = 1; turn <= turns; turn++) {
    for (const [tenant, webhook] of Object.entries(healthy)) {
      // To the dead ones too.
      await lab.tell(tenant as TestTenant, 1)
      await webhook.receiving.count(turn, arrivalMsMax)
    }
  }
  for (const webhook of Object.values(healthy)) {
    expect(webhook.receiving.faults).toEqual([])
    expect(webhook.receiving.received.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
      Array.from({ length: turns }, (_, before) => before + 1),
    )
  }
  // However much waits, a receiver that does not answer is not flooded.
  for (const { receiving } of dead) expect(receiving.openMost).toBeLessThanOrEqual(16)
  expect((await dead[0]!.get()).health).toMatchObject({ pending: backlog + turns })
})

function isBusy({ receiving }: LabWebhook, rows: readonly DeliveryRow[]): boolean {
  return receiving.openMost > 0 || rows.some(({ attempt_count }) => attempt_count > 0)
}
