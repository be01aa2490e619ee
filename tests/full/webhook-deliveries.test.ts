import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DeliveringProcess, startDeliveringProcess } from '../webhooks/delivering-process.ts'
import {
  answer,
  answerAfter,
  type Behaviour,
  closeAtOnce,
  closeInBody,
  closeInHead,
  hang,
  notHttp,
  redirectTo,
  resetAtOnce,
  streamForever,
  take,
} from '../webhooks/receiver-behaviours.ts'
import { type DeliveryRow, type LabWebhook, startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

const runs = 25
/** The last one never takes anything: its messages die. */
const endpoints = 3
const attemptsMax = 8
const endedMsMax = 60_000

const behaviours: Record<string, Behaviour> = {
  take,
  'take late': answerAfter(30),
  'take without a body': answer(204),
  'take, close in the body': closeInBody,
  'take, stream forever': streamForever,
  'answer 500': answer(500),
  'answer 503, wait an hour': answer(503, { 'retry-after': '3600' }),
  'answer 429': answer(429),
  redirect: redirectTo('http://127.0.0.1:9/'),
  hang,
  close: closeAtOnce,
  reset: resetAtOnce,
  'close in the head': closeInHead,
  'not HTTP': notHttp,
}

type Step =
  | { do: 'tell'; to: number[]; messages: number }
  | { do: 'behave'; at: number; as: string }
  | { do: 'kill' | 'stop and start' | 'start another' | 'cut connections' | 'let time pass' }
  | { do: 'rotate'; at: number }
  | { do: 'wait'; ms: number }

const anyEndpoint = fc.nat({ max: endpoints - 1 })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      to: fc.uniqueArray(anyEndpoint, { minLength: 1 }),
      messages: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('behave' as const),
      at: fc.nat({ max: endpoints - 2 }),
      as: fc.constantFrom(...Object.keys(behaviours)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('kill', 'stop and start', 'start another', 'cut connections', 'let time pass')
      .map((what) => ({ do: what }) as Step),
  },
  { weight: 1, arbitrary: anyEndpoint.map((at) => ({ do: 'rotate' as const, at })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 80 }).map((ms) => ({ do: 'wait' as const, ms })) },
)

let lab: WebhookLab
const processes: DeliveringProcess[] = []
const ended: DeliveringProcess[] = []
beforeAll(async () => {
  // Others deliver what it queues.
  lab = await startWebhookLab({ start: false })
})
afterAll(async () => {
  await Promise.all([...processes, ...ended].map((each) => each.stop()))
  await lab.stop()
})

test('whatever receivers and processes do, each message is delivered, or dead after its attempts', async () => {
  const plan = fc.array(anyStep, { minLength: 5, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(plan, async (steps) => {
      const webhooks: LabWebhook[] = []
      for (let at = 0; at < endpoints; at++) webhooks.push(await lab.connect())
      webhooks.at(-1)!.receiving.behaviour = answer(500)
      const told = webhooks.map(() => 0)
      await start()
      try {
        for (const step of steps) await perform(step, webhooks, told)
        await finish(webhooks, told)
        for (const [at, webhook] of webhooks.entries()) await check(webhook, told[at]!, at === endpoints - 1)
      } finally {
        for (const each of processes.splice(0)) await each.stop()
        for (const { path } of webhooks) await lab.must('acme', 'DELETE', path)
      }
    }),
    { numRuns: runs, endOnFailure: true },
  )
})

async function start(): Promise<void> {
  processes.push(await startDeliveringProcess(lab.hub))
}

async function perform(step: Step, webhooks: readonly LabWebhook[], told: number[]): Promise<void> {
  switch (step.do) {
    case 'tell': {
      await lab.tell(
        'acme',
        step.messages,
        step.to.map((at) => webhooks[at]!.webhookId),
      )
      for (const at of step.to) told[at]! += step.messages
      return
    }
    case 'behave':
      webhooks[step.at]!.receiving.behaviour = behaviours[step.as]!
      return
    case 'rotate':
      return webhooks[step.at]!.rotate()
    case 'kill': {
      const killed = processes.shift()
      killed?.crash()
      if (killed) ended.push(killed)
      await endLeases()
      return start()
    }
    case 'stop and start':
      await processes.shift()?.stop()
      return start()
    case 'start another':
      if (processes.length < 3) await start()
      return
    case 'cut connections':
      return cutConnections()
    case 'let time pass':
      return makeDue(webhooks)
    case 'wait':
      return void (await delay(step.ms))
  }
}

/** As if the time of each were over. A living process may lose one so, as one that was stopped for a while would. */
async function endLeases(): Promise<void> {
  await lab.superuser.query(`update hub.webhook_progress set leased_until = now() - interval '1 second'`)
}

async function cutConnections(): Promise<void> {
  await lab.superuser.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name in ('hub-app', 'hub-ingest')`,
  )
}

async function makeDue(webhooks: readonly LabWebhook[]): Promise<void> {
  for (const webhook of webhooks) await webhook.makeDue()
  for (const each of processes) each.wake('acme')
}

/** Receivers recover, but for the last one, and time passes until nothing is left to attempt. */
async function finish(webhooks: readonly LabWebhook[], told: readonly number[]): Promise<void> {
  for (const { receiving } of webhooks.slice(0, -1)) receiving.behaviour = take
  // Those that hang are let go.
  lab.receiver.refusing = true
  lab.receiver.refusing = false
  await endLeases()
  for (const endsMs = performance.now() + endedMsMax; ; await delay(50)) {
    await makeDue(webhooks)
    const rows: DeliveryRow[][] = []
    for (const webhook of webhooks) rows.push(await webhook.deliveries())
    const isEnded = ({ status }: DeliveryRow) => status === 'delivered' || status === 'dead'
    if (rows.every((all, at) => all.length === told[at] && all.every(isEnded))) return
    if (performance.now() > endsMs) {
      const left = rows.map((all) => all.filter((row) => !isEnded(row)).map(({ attempts: _, ...row }) => row))
      throw new Error(`told ${told}, queued ${rows.map(({ length }) => length)}, not ended: ${JSON.stringify(left)}`)
    }
  }
}

async function check({ receiving, deliveries }: LabWebhook, told: number, isDead: boolean): Promise<void> {
  const rows = await deliveries()
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: told }, (_, before) => before + 1))
  expect(receiving.faults).toEqual([])
  const received = receiving.byId()
  const taken = receiving.taken()
  const byId = new Map(rows.map((row) => [row.message_id, row]))
  expect(
    [...received.keys()].filter((id) => !byId.has(id)),
    'nothing that was not queued',
  ).toEqual([])
  for (const row of rows) {
    if (row.status === 'delivered') expect(taken, 'delivered is what was taken').toContain(row.message_id)
    else expect(row).toMatchObject({ status: 'dead', tries: attemptsMax, attempt_count: attemptsMax })
    if (isDead) expect(row.status).toBe('dead')
    expect(row.next_attempt_at).toBeNull()
  }
  for (const [id, attempts] of received) {
    const texts = new Set(attempts.map(({ raw }) => raw.toString()))
    expect(texts.size, 'the same at each attempt').toBe(1)
    expect(attempts[0]!.sequence).toBe(byId.get(id)!.sequence)
    for (const { t, atMs } of attempts) expect(Math.abs(atMs / 1000 - t), 'signed anew').toBeLessThan(5)
  }
  // As they were queued, so they count.
  const numbers = rows.flatMap(({ message_id }) => received.get(message_id)?.[0]?.body.data.number ?? [])
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
}
