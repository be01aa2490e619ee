// Measures how fast a filled outbox reaches a receiver, against plain posts of the same bodies to the same receiver.
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import type { BenchHub } from './bench-hub.ts'
import { type CpuShares, cpuShares, cpuTimes, processMicros } from './cpu-times.ts'
import { type Outcome, outcomeOf, type Row, type Run } from './figure.ts'
import type { Profile } from './profile.ts'
import { logProgress } from './progress.ts'
import { median, rounded } from './statistics.ts'
import { sampleData, type WebhookStage } from './webhook-stage.ts'

/** Concurrency of the service for one endpoint, and of the plain posts. */
const concurrency = 16

/** Microseconds of CPU per message; for plain posts, `load` is the sender. */
type Cpu = CpuShares & { receiver: number }

interface Pass {
  perSecond: number
  cpu: Cpu
}

interface Round {
  delivered: Pass
  plain: Pass
}

export interface DeliveryRate {
  outcomes: Outcome[]
  rows: Row[]
}

/** @param messages number of messages in the outbox at the beginning of each round */
export async function measureRate(
  parts: { run: Run; hub: BenchHub; stage: WebhookStage; tenant: string; profile: Profile },
  messages: number,
): Promise<DeliveryRate> {
  const { run, hub, stage, tenant, profile } = parts
  const webhookId = await stage.addEndpoint(tenant, `${stage.receiver.url}/rate`)

  async function withCpu(count: number, work: () => Promise<number>): Promise<Pass> {
    const receiverMicros = () => processMicros(stage.receiver.pid)
    const before = { cpu: cpuTimes(hub), receiver: receiverMicros() }
    const perSecond = await work()
    const receiver = rounded((receiverMicros() - before.receiver) / count)
    return { perSecond, cpu: { ...cpuShares(before.cpu, cpuTimes(hub), count), receiver } }
  }

  const deliver = (count: number) =>
    withCpu(count, async () => {
      const beganMs = performance.timeOrigin + performance.now()
      await stage.tell(tenant, count, [webhookId])
      const { last_at_ms } = await stage.arrivals('/rate', count)
      // The results of attempts are stored soon after: the time until then counts, too.
      while ((await stage.pending([tenant])) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
      return (1000 * count) / (last_at_ms - beganMs)
    })
  const postAll = (count: number) => {
    const messages = signedMessages(tenant, count)
    return withCpu(count, () => postPlainly(stage, messages))
  }

  logProgress('warming up')
  await deliver(Math.ceil(messages / 4))
  await postAll(Math.ceil(messages / 4))
  const rounds: Round[] = []
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    const plain = await postAll(messages)
    const delivered = await deliver(messages)
    logProgress(
      `round ${round}: ${Math.round(delivered.perSecond)} deliveries/s, ${Math.round(plain.perSecond)} plain posts/s`,
    )
    rounds.push({ plain, delivered })
  }
  profile.end()
  await stage.setEnabled(tenant, webhookId, false)
  const ratioOf = ({ delivered, plain }: Round) => delivered.perSecond / plain.perSecond
  const of = (pick: (round: Round) => number) => rounded(median(rounds.map(pick)))
  return {
    outcomes: [
      outcomeOf(rounds.map(ratioOf), {
        figure: `deliveries/s of ${messages} messages, from the outbox to a receiver`,
        reference: 'plain undici posts/s',
        ...{ unit: '×', bound: 'min', target: 0.3 },
      }),
    ],
    rows: [
      {
        what: 'plain undici posts',
        'per second': of(({ plain }) => plain.perSecond),
        ratio: 1,
        'Node µs': of(({ plain }) => plain.cpu.load),
        'PostgreSQL µs': 0,
        'receiver µs': of(({ plain }) => plain.cpu.receiver),
      },
      {
        what: 'deliveries',
        'per second': of(({ delivered }) => delivered.perSecond),
        ratio: of(ratioOf),
        'Node µs': of(({ delivered }) => delivered.cpu.node),
        'PostgreSQL µs': of(({ delivered }) => delivered.cpu.postgres),
        'receiver µs': of(({ delivered }) => delivered.cpu.receiver),
      },
    ],
  }
}

interface Signed {
  headers: Record<string, string>
  text: string
}

/** Makes and signs messages before the measurement: the reference covers the posts alone. */
function signedMessages(tenant: string, count: number): Signed[] {
  const secret = 'whsec_of-the-benchmark'
  return Array.from({ length: count }, (_, at) => {
    const id = randomUUID()
    const occurredAt = `${new Date().toISOString().slice(0, -1)}000Z`
    const data = sampleData(at)
    const body = { id, kind: 'skill.invocation_failed', tenant, occurred_at: occurredAt, sequence: at + 1, data }
    const text = JSON.stringify(body)
    const t = Math.floor(Date.now() / 1000)
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
}

/** Posts as an integration without a service would: this many at once, and nothing is stored. */
async function postPlainly(stage: WebhookStage, messages: readonly Signed[]): Promise<number> {
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
  const perSecond = (1000 * messages.length) / (performance.now() - began)
  await dispatcher.close()
  await stage.arrivals('/plain', messages.length)
  return perSecond
}
