// How fast a filled outbox gets to a receiver, against plain posts of the same bodies to the same receiver.
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import type { BenchHub } from './bench-hub.ts'
import { type CpuShares, cpuShares, cpuTimes } from './cpu-times.ts'
import type { Outcome, Row, Run } from './figure.ts'
import type { Profile } from './profile.ts'
import { say } from './progress.ts'
import { median, rounded, spreadOf } from './statistics.ts'
import { sampleData, type WebhookStage } from './webhook-stage.ts'

/** Of the service for one endpoint, and of the plain posts. */
const concurrency = 16

interface Round {
  perSecond: number
  ratio: number
  plainPerSecond: number
  cpu: CpuShares
}

export interface DeliveryRate {
  outcomes: Outcome[]
  rows: Row[]
}

/** @param messages in the outbox at the beginning of each round */
export async function measureRate(
  parts: { run: Run; hub: BenchHub; stage: WebhookStage; tenant: string; profile: Profile },
  messages: number,
): Promise<DeliveryRate> {
  const { run, hub, stage, tenant, profile } = parts
  const webhookId = await stage.addEndpoint(tenant, `${stage.receiver.url}/rate`)

  async function deliver(count: number): Promise<{ perSecond: number; cpu: CpuShares }> {
    const before = cpuTimes(hub)
    const beganMs = performance.timeOrigin + performance.now()
    await stage.tell(tenant, count, [webhookId])
    const { last_at_ms } = await stage.arrivals('/rate', count)
    return { perSecond: (1000 * count) / (last_at_ms - beganMs), cpu: cpuShares(before, cpuTimes(hub), count) }
  }

  say('warming up')
  await deliver(Math.ceil(messages / 4))
  await postPlainly(stage, tenant, Math.ceil(messages / 4))
  const rounds: Round[] = []
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    const plainPerSecond = await postPlainly(stage, tenant, messages)
    const { perSecond, cpu } = await deliver(messages)
    say(`round ${round}: ${Math.round(perSecond)} deliveries/s, ${Math.round(plainPerSecond)} plain posts/s`)
    rounds.push({ perSecond, ratio: perSecond / plainPerSecond, plainPerSecond, cpu })
  }
  profile.end()
  await stage.setEnabled(tenant, webhookId, false)
  const { median: value, ...spread } = spreadOf(rounds.map(({ ratio }) => ratio))
  const of = (pick: (round: Round) => number) => rounded(median(rounds.map(pick)))
  return {
    outcomes: [
      {
        figure: `deliveries/s of ${messages} messages, from the outbox to a receiver`,
        reference: 'plain undici posts/s',
        ...{ unit: '×', value, spread, bound: 'min', target: 0.3 },
      },
    ],
    rows: [
      { what: 'plain undici posts', 'per second': of(({ plainPerSecond }) => plainPerSecond), ratio: 1 },
      {
        what: 'deliveries',
        'per second': of(({ perSecond }) => perSecond),
        ratio: of(({ ratio }) => ratio),
        'Node µs': of(({ cpu }) => cpu.node),
        'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
      },
    ],
  }
}

/** What an integration would do without a service: so many posts at once, one after the other, and nothing is kept. */
async function postPlainly(stage: WebhookStage, tenant: string, count: number): Promise<number> {
  const secret = 'whsec_of-the-benchmark'
  const messages = Array.from({ length: count }, (_, at) => {
    const id = randomUUID()
    const occurredAt = `${new Date().toISOString().slice(0, -1)}000Z`
    const data = sampleData(at)
    const body = { id, kind: 'skill.invocation_failed', tenant, occurred_at: occurredAt, sequence: at + 1, data }
    const text = JSON.stringify(body)
    const t = Math.floor(Date.now() / 1000)
    // Signed before it counts: the reference is the posts alone.
    const signature = createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'org-memory-hub',
      'x-service-tenant': tenant,
      'x-service-webhook-id': id,
      'x-service-signature': `t=${t},v1=${signature}`,
    }
    return { headers, text }
  })
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1 })
  const url = `${stage.receiver.url}/plain`
  let next = 0
  const work = async () => {
    for (let message = messages[next++]; message; message = messages[next++]) {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        headers: message.headers,
        body: message.text,
        dispatcher,
      })
      await body.text()
      if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: concurrency }, work))
  const perSecond = (1000 * count) / (performance.now() - began)
  await dispatcher.close()
  await stage.arrivals('/plain', count)
  return perSecond
}
