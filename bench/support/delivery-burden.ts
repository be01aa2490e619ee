// Measures whether deliveries that wait for a dead receiver slow ingest down.
import { AcknowledgedIds } from './acknowledged-ids.ts'
import type { BenchHub, BenchTenant } from './bench-hub.ts'
import { sendInTurn } from './closed-loop.ts'
import { type Outcome, outcomeOf, type Row, type Run, type StoreCheck } from './figure.ts'
import { logProgress } from './progress.ts'
import { sampleBatches } from './sample-events.ts'
import { median, rounded } from './statistics.ts'
import { checkEvents } from './summary.ts'
import type { WebhookStage } from './webhook-stage.ts'

const eventsPerBatch = 1000
const connections = 4
/** Messages per transaction when the outbox is filled. */
const messagesPerBatch = 5000
const relayedMsMax = 600_000

export interface DeliveryBurden {
  outcomes: Outcome[]
  rows: Row[]
  check: StoreCheck
}

/**
 * Measures a receiver that hangs, then one that refuses. Its endpoint is switched on and off in turn, so that both
 * sides have the same rows in the same tables.
 */
export async function measureBurden(
  parts: { run: Run; hub: BenchHub; stage: WebhookStage; tenant: BenchTenant },
  pending: number,
): Promise<DeliveryBurden> {
  const { run, hub, stage, tenant } = parts
  const acknowledged = new AcknowledgedIds()
  const bodies = sampleBatches(64, eventsPerBatch)

  async function ingest(seconds: number): Promise<number> {
    const load = await sendInTurn(bodies, {
      url: hub.url,
      path: '/api/v1/telemetry/events:batch',
      headers: await tenant.headers(),
      ...{ connections, seconds, expectedStatus: 201, acknowledged },
    })
    return (load.answered * eventsPerBatch) / load.seconds
  }

  const dead = [
    { name: 'that does not answer', url: `${stage.receiver.url}/hang` },
    { name: 'that refuses connections', url: stage.refusingUrl },
  ]
  const outcomes: Outcome[] = []
  const rows: Row[] = []
  logProgress(`warming up for ${run.warmUpSeconds} s`)
  await ingest(run.warmUpSeconds)
  for (const { name, url } of dead) {
    const waitingBefore = await stage.pending([tenant.slug])
    // Uses events that ingest does not cause: the waiting deliveries are measured.
    const webhookId = await stage.addEndpoint(tenant.slug, url, ['user.*'])
    for (let queued = 0; queued < pending; queued += messagesPerBatch) {
      await stage.tell(tenant.slug, Math.min(messagesPerBatch, pending - queued), [webhookId])
    }
    await until(async () => (await stage.pending([tenant.slug])) - waitingBefore >= pending)
    const without: number[] = []
    const beside: number[] = []
    const measure = async (enabled: boolean) => {
      await stage.setEnabled(tenant.slug, webhookId, enabled)
      ;(enabled ? beside : without).push(await ingest(run.seconds))
    }
    for (let round = 1; round <= run.rounds; round++) {
      // The order alternates: the second finds a fuller store.
      for (const enabled of round % 2 === 1 ? [false, true] : [true, false]) await measure(enabled)
      logProgress(
        `round ${round}: ${Math.round(without.at(-1)!)} events/s, ${Math.round(beside.at(-1)!)} beside a receiver ${name}`,
      )
    }
    const left = (await stage.pending([tenant.slug])) - waitingBefore
    await stage.setEnabled(tenant.slug, webhookId, false)
    const slower = without.map((rate, at) => 100 * (1 - beside[at]! / rate))
    outcomes.push(
      outcomeOf(slower, {
        figure: `slowdown of batch ingest by ${pending} deliveries that wait for a receiver ${name}`,
        reference: 'the same while its endpoint is disabled',
        ...{ unit: '%', bound: 'max', target: 10 },
      }),
    )
    rows.push({
      'deliveries wait for a receiver': name,
      'events/s without': rounded(median(without)),
      'events/s beside': rounded(median(beside)),
      'still waiting': left,
    })
  }
  return { outcomes, rows, check: await checkEvents(hub, tenant, acknowledged) }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endsMs = performance.now() + relayedMsMax
  while (!(await isSo())) {
    if (performance.now() > endsMs) throw new Error('the outbox was not turned into deliveries in time')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}
