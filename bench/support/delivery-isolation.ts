// Measures how long messages take to a healthy endpoint, alone and beside many dead ones.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome, Row, Run } from './figure.ts'
import { logProgress } from './progress.ts'
import { median, quantile, rounded } from './statistics.ts'
import type { WebhookStage } from './webhook-stage.ts'

/** Fifty dead endpoints in total: in the healthy one's tenant, and in another. */
const deadOnes = [
  { habit: 'hang', count: 20 },
  { habit: 'refuse', count: 15 },
  { habit: 'fail', count: 15 },
] as const
/** The rate to every endpoint of both tenants. */
const messagesPerSecond = 10

export interface DeliveryIsolation {
  outcomes: Outcome[]
  rows: Row[]
}

interface Dead {
  tenant: string
  webhookId: string
}

/** @param backlog number of messages that wait for each dead endpoint from the beginning */
export async function measureIsolation(
  parts: { run: Run; stage: WebhookStage; tenants: readonly [string, string] },
  backlog: number,
): Promise<DeliveryIsolation> {
  const { run, stage, tenants } = parts
  const [tenant] = tenants
  await stage.addEndpoint(tenant, `${stage.receiver.url}/healthy`)
  const dead: Dead[] = []
  for (const { habit, count } of deadOnes) {
    for (let at = 0; at < count; at++) {
      const of = tenants[at % 2]!
      const url = habit === 'refuse' ? `${stage.refusingUrl}/${at}` : `${stage.receiver.url}/${habit}/${at}`
      dead.push({ tenant: of, webhookId: await stage.addEndpoint(of, url) })
    }
  }
  for (const of of tenants) {
    const webhookIds = dead.filter((each) => each.tenant === of).map(({ webhookId }) => webhookId)
    await stage.tell(of, backlog, webhookIds)
  }
  const setAll = async (enabled: boolean) => {
    for (const each of dead) await stage.setEnabled(each.tenant, each.webhookId, enabled)
  }

  /** Sends messages at an even rate. Returns the milliseconds that each took. */
  async function tellSteadily(seconds: number): Promise<number[]> {
    const count = Math.ceil(messagesPerSecond * seconds)
    const began = performance.now()
    for (let at = 0; at < count; at++) {
      await sleep(Math.max(0, began + (1000 * at) / messagesPerSecond - performance.now()))
      await Promise.all(tenants.map((each) => stage.tell(each, 1)))
    }
    return (await stage.arrivals('/healthy', count)).took_ms
  }

  const alone: number[][] = []
  const beside: number[][] = []
  for (let round = 1; round <= run.rounds; round++) {
    await setAll(false)
    await tellSteadily(run.warmUpSeconds)
    alone.push(await tellSteadily(run.seconds))
    await setAll(true)
    // The first attempts at the dead endpoints fail meanwhile.
    await tellSteadily(run.warmUpSeconds)
    beside.push(await tellSteadily(run.seconds))
    const p99 = (all: number[]) => rounded(quantile(all, 0.99))
    logProgress(
      `round ${round}: p99 ${p99(alone.at(-1)!)} ms alone, ${p99(beside.at(-1)!)} ms beside ${dead.length} dead ones`,
    )
  }
  await setAll(false)
  // Uses all rounds together: a single one has too few messages for a 99th percentile.
  const ratio = quantile(beside.flat(), 0.99) / quantile(alone.flat(), 0.99)
  const ratios = beside.map((all, at) => quantile(all, 0.99) / quantile(alone[at]!, 0.99))
  const row = (what: string, rounds: number[][]) => {
    const all = rounds.flat()
    const at = (q: number) => rounded(quantile(all, q))
    const p99s = rounds.map((each) => quantile(each, 0.99))
    const p99 = rounded(median(p99s))
    return {
      what,
      messages: all.length,
      'p50 ms': at(0.5),
      'p99 ms': at(0.99),
      'p99 ms, median of rounds': p99,
      'max ms': at(1),
    }
  }
  return {
    outcomes: [
      {
        figure: `p99 from outbox to receiver of a healthy endpoint beside ${dead.length} dead ones`,
        reference: 'the same alone',
        unit: '×',
        value: rounded(ratio),
        spread: { min: rounded(Math.min(...ratios)), max: rounded(Math.max(...ratios)) },
        bound: 'max',
        target: 1.2,
      },
    ],
    rows: [row('alone', alone), row(`beside ${dead.length} dead ones`, beside)],
  }
}
