import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scaled } from '../support/machine-speed.ts'
import { type DeliveringProcess, startDeliveringProcess } from '../webhooks/delivering-process.ts'
import { anySteps, behaviours, type Step } from '../webhooks/delivery-steps.ts'
import type { ReceivedMessage, ReceivingEndpoint } from '../webhooks/receiver.ts'
import { answer, type Behaviour, take } from '../webhooks/receiver-behaviours.ts'
import {
  type DeliveryRow,
  type LabWebhook,
  messageOf,
  startWebhookLab,
  type WebhookLab,
} from '../webhooks/webhook-lab.ts'

const runs = 50
/** The last one never takes anything: its messages die. */
const endpoints = 3
const attemptsMax = 8
/** An attempt that takes longer is given up. */
const attemptMsMax = 15_000
const endedMsMax = scaled(60_000)

/** An endpoint, and what is known of it. */
interface Subject {
  webhook: LabWebhook
  /** Where it may be, and where it is. */
  places: [ReceivingEndpoint, ReceivingEndpoint]
  isMoved: boolean
  isFaithful: boolean
  enabled: boolean
  /** From then on it may be disabled at any time, by an answer that came or comes. */
  wasGone: boolean
  /** Records of the messages that it must have collected, and of those that it may have. */
  must: Set<string | null>
  may: Set<string | null>
}

/** A receiver that asks for an hour is called again in time. */
const asksForAnHour: Step[] = [
  { do: 'behave', at: 0, as: 'answer 503, wait an hour' },
  { do: 'tell', to: [0], messages: 4 },
  { do: 'wait', ms: 80 },
]

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

test('whatever receivers, processes and administrators do, each message is delivered, erased or dead after its attempts', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps(endpoints), async (steps) => {
      const subjects: Subject[] = []
      for (let at = 0; at < endpoints; at++) subjects.push(await makeSubject(at < endpoints - 1))
      const told: string[] = []
      const erased = new Set<string | null>()
      // A process that is still running serves the next run, too.
      if (processes.length === 0) await start()
      try {
        for (const step of steps) await perform(step, subjects, told, erased)
        await recover(subjects)
        await finish(subjects, erased)
        for (const subject of subjects) await check(subject, erased)
        await deliverTheDead(subjects, erased)
      } finally {
        for (const each of processes.splice(1)) await each.stop()
        for (const { webhook } of subjects) await lab.must('acme', 'DELETE', webhook.path)
      }
    }),
    { numRuns: runs, endOnFailure: true, examples: [[asksForAnHour]] },
  )
})

async function makeSubject(isFaithful: boolean): Promise<Subject> {
  const webhook = await lab.connect()
  const places: Subject['places'] = [webhook.receiving, lab.receiver.at(`${webhook.receiving.path}/moved`)]
  const subject = { webhook, places, isMoved: false, isFaithful, enabled: true, wasGone: false }
  places[1].secrets = places[0].secrets
  behave(places, isFaithful ? take : answer(500))
  return { ...subject, must: new Set(), may: new Set() }
}

function behave(places: Subject['places'], behaviour: Behaviour): void {
  for (const place of places) place.behaviour = behaviour
}

async function start(): Promise<void> {
  processes.push(await startDeliveringProcess(lab.hub))
}

async function perform(
  step: Step,
  subjects: readonly Subject[],
  told: string[],
  erased: Set<string | null>,
): Promise<void> {
  const subject = 'at' in step ? subjects[step.at]! : undefined
  switch (step.do) {
    case 'tell':
      return tell(
        step.messages,
        step.to.map((at) => subjects[at]!),
        told,
      )
    case 'behave':
      if (step.as === 'answer 410') {
        await relayed()
        subject!.wasGone = true
      }
      return behave(subject!.places, behaviours[step.as]!)
    case 'rotate':
      await subject!.webhook.rotate()
      subject!.places[1].secrets = subject!.places[0].secrets
      return
    case 'move':
      subject!.isMoved = !subject!.isMoved
      await subject!.webhook.change({ url: subject!.places[subject!.isMoved ? 1 : 0].url })
      return
    case 'disable':
    case 'enable':
      // So that it is known who collects what was told before.
      await relayed()
      subject!.enabled = step.do === 'enable'
      await subject!.webhook.change({ enabled: subject!.enabled })
      return
    case 'redeliver':
      return redeliver(subject!, step.status)
    case 'erase': {
      const recordId = told[Math.floor(step.which * told.length)]
      return recordId === undefined ? undefined : erase(recordId, subjects, erased)
    }
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
      return makeDue(subjects)
    case 'wait':
      return void (await delay(step.ms))
  }
}

async function tell(count: number, to: readonly Subject[], told: string[]): Promise<void> {
  const messages = Array.from({ length: count }, () => ({ ...messageOf(), recordId: randomUUID() }))
  await lab.tell(
    'acme',
    messages,
    to.map(({ webhook }) => webhook.webhookId),
  )
  for (const { recordId } of messages) {
    told.push(recordId)
    for (const { enabled, wasGone, must, may } of to) {
      if (enabled) may.add(recordId)
      if (enabled && !wasGone) must.add(recordId)
    }
  }
}

/** As the erasure of the record does, in one transaction. */
async function erase(recordId: string, subjects: readonly Subject[], erased: Set<string | null>): Promise<void> {
  const purged_at = new Date().toISOString()
  const record = {
    record_type: 'telemetry_event',
    created_at: undefined,
    user_id: null,
    canonical: '{}',
    purged_at,
    event_id: recordId,
  }
  await lab.hub.test.database.withTenant('acme', async (tx) => {
    await lab.hub.modules.webhooks.eraseRecordCopies(tx, [{ ...record, record_id: recordId }])
  })
  erased.add(recordId)
  // It may have been in the outbox yet.
  for (const { must } of subjects) must.delete(recordId)
}

/** 409 is the answer while the endpoint is disabled. */
async function redeliver({ webhook }: Subject, status: 'failed' | 'dead' | 'delivered'): Promise<void> {
  const body = { since: new Date(Date.now() - 3_600_000).toISOString(), status }
  const answered = await lab.hub.call('acme', 'POST', `${webhook.path}:redeliver`, { body })
  expect([202, 409], answered.text).toContain(answered.status)
}

/** As if the time of each were over. A living process may lose one so, as one that was stopped for a while would. */
async function endLeases(): Promise<void> {
  const { rows } = await lab.superuser.query('select webhook_id from hub.webhook_progress')
  // One by one, since a statement for all could wait for the service while that waits for it.
  for (const { webhook_id } of rows) {
    await lab.superuser.query(
      `update hub.webhook_progress set leased_until = now() - interval '1 second' where webhook_id = $1`,
      [webhook_id],
    )
  }
}

async function cutConnections(): Promise<void> {
  const { rows } = await lab.superuser.query(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name in ('hub-app', 'hub-ingest')`,
  )
  const pids = rows.map(({ pid }) => pid)
  // What the test itself does next must not meet one of them: what then became of its transaction is not known.
  const left = async () =>
    (await lab.superuser.query('select 1 from pg_stat_activity where pid = any($1)', [pids])).rows.length
  await expect.poll(left, { timeout: scaled(endedMsMax), interval: 5 }).toBe(0)
  await delay(20)
}

async function makeDue(subjects: readonly Subject[]): Promise<void> {
  for (const { webhook } of subjects) await webhook.makeDue()
  for (const each of processes) each.wake('acme')
}

/** Once nothing is left in the outbox. */
async function relayed(): Promise<void> {
  for (const endsMs = performance.now() + endedMsMax; ; await delay(10)) {
    const { rows } = await lab.superuser.query('select 1 from hub.webhook_outbox limit 1')
    if (rows.length === 0) return
    if (performance.now() > endsMs) throw new Error(`not relayed within ${endedMsMax} ms`)
    for (const each of processes) each.wake('acme')
  }
}

/** Receivers recover, but for the last one. */
async function recover(subjects: readonly Subject[]): Promise<void> {
  for (const { isFaithful, places } of subjects) if (isFaithful) behave(places, take)
  // Those that hang are let go.
  lab.receiver.refusing = true
  lab.receiver.refusing = false
  await endLeases()
  await relayed()
}

const isEnded = ({ status }: DeliveryRow) => status === 'delivered' || status === 'dead'

/** Time passes until nothing is left to attempt. */
async function finish(subjects: readonly Subject[], erased: ReadonlySet<string | null>): Promise<void> {
  await until(subjects, async ({ must }, rows) => {
    const collected = new Set(rows.map(({ record_id }) => record_id))
    return must.isSubsetOf(collected) && rows.every((row) => isEnded(row) || erased.has(row.record_id))
  })
}

/** What is dead is delivered once it is asked for again, but for what was erased. */
async function deliverTheDead(subjects: readonly Subject[], erased: ReadonlySet<string | null>): Promise<void> {
  const faithful = subjects.filter(({ isFaithful }) => isFaithful)
  const before = new Map<string, DeliveryRow>()
  for (const { webhook } of faithful) for (const row of await webhook.deliveries()) before.set(row.delivery_id, row)
  for (const subject of faithful) await redeliver(subject, 'dead')
  await until(faithful, async (subject, rows) => {
    if (rows.some((row) => row.status === 'dead' && !erased.has(row.record_id))) await redeliver(subject, 'dead')
    return rows.every(({ status, record_id }) => status === 'delivered' || erased.has(record_id))
  })
  for (const { webhook } of faithful) {
    for (const row of await webhook.deliveries()) {
      if (erased.has(row.record_id)) expect(row).toEqual(before.get(row.delivery_id))
    }
  }
}

type AreSo = (subject: Subject, rows: DeliveryRow[]) => Promise<boolean>

/** All are enabled, and time passes, until deliveries are so. */
async function until(subjects: readonly Subject[], areSo: AreSo): Promise<void> {
  for (const endsMs = performance.now() + endedMsMax; ; await delay(50)) {
    for (const { webhook } of subjects) if (!(await webhook.get()).enabled) await webhook.change({ enabled: true })
    await makeDue(subjects)
    const left: object[] = []
    for (const subject of subjects) {
      const rows = await subject.webhook.deliveries()
      if (await areSo(subject, rows)) continue
      const open = rows.filter((row) => row.status !== 'delivered').map(({ attempts: _, ...row }) => row)
      left.push({ must: subject.must.size, rows: rows.length, open })
    }
    if (left.length === 0) return
    if (performance.now() > endsMs) throw new Error(`not ended: ${JSON.stringify(left)}`)
  }
}

async function check(subject: Subject, erased: ReadonlySet<string | null>): Promise<void> {
  const { webhook, places, isFaithful, wasGone, may } = subject
  const rows = await webhook.deliveries()
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from(rows, (_, before) => before + 1))
  const recordIds = rows.map(({ record_id }) => record_id)
  expect(new Set(recordIds).size, 'each once').toBe(rows.length)
  expect(
    recordIds.filter((id) => !may.has(id)),
    'nothing that was told while it was disabled',
  ).toEqual([])
  for (const { faults } of places) expect(faults).toEqual([])
  const received = Map.groupBy(inOrder(places), ({ id }) => id)
  const taken = new Set(places.flatMap((place) => [...place.taken()]))
  const byId = new Map(rows.map((row) => [row.message_id, row]))
  expect(
    [...received.keys()].filter((id) => !byId.has(id)),
    'nothing that was not queued',
  ).toEqual([])
  for (const row of rows) {
    const isErased = erased.has(row.record_id)
    expect([row.is_erased, row.next_attempt_at]).toEqual([isErased, null])
    expect(row.attempt_count).toBeGreaterThanOrEqual(row.tries)
    if (row.status === 'delivered') expect(taken, 'delivered is what was taken').toContain(row.message_id)
    else if (isErased || wasGone) expect(row.tries).toBeLessThanOrEqual(attemptsMax)
    else expect(row).toMatchObject({ status: 'dead', tries: attemptsMax })
    if (!isFaithful) expect(row.status).toBe('dead')
  }
  for (const [id, attempts] of received) {
    const texts = new Set(attempts.map(({ raw }) => raw.toString()))
    expect(texts.size, 'the same at each attempt').toBe(1)
    expect(attempts[0]!.sequence).toBe(byId.get(id)!.sequence)
    for (const { t, atMs } of attempts) {
      // Each attempt is signed anew. Two can be in flight at once, where a lease was taken from a process that still sends.
      expect(t).toBeGreaterThanOrEqual(Math.floor((atMs - attemptMsMax) / 1000))
      expect(t).toBeLessThanOrEqual(Math.ceil(atMs / 1000))
    }
  }
  // As they were queued, so they count.
  const numbers = rows.flatMap(({ message_id }) => received.get(message_id)?.[0]?.body.data.number ?? [])
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
}

function inOrder(places: Subject['places']): ReceivedMessage[] {
  return places.flatMap(({ received }) => received).sort((a, b) => a.atMs - b.atMs)
}
