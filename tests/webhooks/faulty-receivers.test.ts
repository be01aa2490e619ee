import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webhookPauseSeconds, webhookPauseSpread, webhookRetryAfterSecondsMax } from '../../contract/limits.ts'
import {
  answer,
  type Behaviour,
  closeAtOnce,
  closeInBody,
  closeInHead,
  dripBody,
  floodHead,
  notHttp,
  redirectTo,
  resetAtOnce,
  streamForever,
  take,
} from './receiver-behaviours.ts'
import { type DeliveryRow, type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

const wasAttempted = ([row]: DeliveryRow[]) => row !== undefined && row.attempt_count > 0

/** One message to an endpoint of its own, after its first attempt. */
async function attempted(
  options: Parameters<WebhookLab['connect']>[0],
): Promise<{ webhook: LabWebhook; row: DeliveryRow }> {
  const webhook = await lab.connect(options)
  await lab.tell('acme', 1, [webhook.webhookId])
  const [row] = await webhook.deliveriesWhen(wasAttempted)
  return { webhook, row: row! }
}

/** From when the last attempt was made until the next one is due, in seconds. */
function pauseOf({ attempts, next_attempt_at }: DeliveryRow): number {
  return (Date.parse(next_attempt_at!) - Date.parse(attempts.at(-1)!.at)) / 1000
}

function expectPause(row: DeliveryRow, seconds: number): void {
  expect(pauseOf(row)).toBeGreaterThanOrEqual(seconds * (1 - webhookPauseSpread))
  expectPauseAtMost(row, seconds)
}

/** The pause begins with the outcome, which is known by now. */
function expectPauseAtMost({ next_attempt_at }: DeliveryRow, seconds: number): void {
  expect(Date.parse(next_attempt_at!)).toBeLessThanOrEqual(Date.now() + seconds * (1 + webhookPauseSpread) * 1000)
}

async function disabledEvents(webhookId: string) {
  const query = 'record_type=governance_event&event_kind=webhook.disabled&limit=1000'
  const { records } = (await lab.must('acme', 'GET', `/api/v1/hub/records?${query}`)).body
  return records.filter(({ subject }: { subject: string }) => subject === `webhook:${webhookId}`)
}

describe('what counts as taken', () => {
  test.each<[string, Behaviour, number]>([
    ['200 with a text', take, 200],
    ['204', answer(204), 204],
    ['299', answer(299), 299],
    ['a head, and then no whole body', closeInBody, 200],
  ])('%s', async (_name, behaviour, status) => {
    const { webhook, row } = await attempted({ behaviour })
    expect(row).toMatchObject({ sequence: 1, status: 'delivered', tries: 1, attempt_count: 1, next_attempt_at: null })
    expect(row.attempts).toMatchObject([{ url: webhook.receiving.url, response: { status } }])
    expect(row.attempts[0]).not.toHaveProperty('error')
    expect(webhook.receiving.faults).toEqual([])
    expect(webhook.receiving.received).toMatchObject([
      { id: row.message_id, sequence: 1, signedBy: [0], signatures: 1 },
    ])
  })

  test.each<[string, Behaviour]>([
    ['is more than anyone reads', streamForever],
    ['comes in drops', dripBody(50)],
  ])('a head whose body %s: it is cut off', async (_name, behaviour) => {
    const { webhook, row } = await attempted({ behaviour })
    expect(row).toMatchObject({ status: 'delivered', attempts: [{ response: { status: 200 } }] })
    expect(row.attempts[0]?.response?.body?.length).toBeLessThanOrEqual(1024)
    await webhook.receiving.until(({ open }) => open === 0)
  })
})

describe('what fails, and is attempted again after five seconds', () => {
  test.each<[string, Behaviour, string, number | undefined]>([
    ['500', answer(500, {}, 'x'.repeat(5000)), 'http-5xx', 500],
    ['404', answer(404), 'http-4xx', 404],
    ['401', answer(401), 'http-4xx', 401],
    ['429 without a time', answer(429), 'rate-limited', 429],
    ['a time that is none', answer(429, { 'retry-after': 'soon' }), 'rate-limited', 429],
    ['a time that is sooner', answer(429, { 'retry-after': '1' }), 'rate-limited', 429],
    ['a time that has passed', answer(429, { 'retry-after': new Date(0).toUTCString() }), 'rate-limited', 429],
    ['a connection closed instead of an answer', closeAtOnce, 'unreachable', undefined],
    ['a connection reset', resetAtOnce, 'unreachable', undefined],
    ['a connection closed in the middle of the head', closeInHead, 'unreachable', undefined],
    ['a head that is too long', floodHead, 'unreachable', undefined],
    ['another protocol', notHttp, 'unreachable', undefined],
  ])('%s', async (_name, behaviour, code, status) => {
    const { webhook, row } = await attempted({ behaviour })
    expect(row).toMatchObject({ status: 'failed', tries: 1, attempt_count: 1, attempts: [{ error: { code } }] })
    expect(row.attempts[0]?.response?.status).toBe(status)
    expect(row.attempts[0]?.response?.body?.length ?? 0).toBeLessThanOrEqual(1024)
    expectPause(row, 5)
    expect((await webhook.get()).health).toMatchObject({ status: 'failing', failures: 1, pending: 1, dead: 0 })
  })

  test('a receiver that closes the connection before it is asked', async () => {
    const webhook = await lab.connect()
    lab.receiver.refusing = true
    try {
      await lab.tell('acme', 1, [webhook.webhookId])
      const [row] = await webhook.deliveriesWhen(wasAttempted)
      expect(row).toMatchObject({ status: 'failed', attempts: [{ error: { code: 'unreachable' } }] })
    } finally {
      lab.receiver.refusing = false
    }
    await webhook.makeDue()
    await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  })

  test('a certificate that nobody knows', async () => {
    const { tlsUrl } = lab.receiver.at('/unknown-certificate')
    const { row } = await attempted({ url: tlsUrl })
    expect(row).toMatchObject({ status: 'failed', attempts: [{ error: { code: 'unreachable' } }] })
    expect(lab.receiver.at('/unknown-certificate').received).toEqual([])
  })

  test('an address that has become forbidden', async () => {
    const webhook = await lab.connect()
    await lab.superuser.query(`update hub.webhooks set url = 'http://10.1.2.3/' where webhook_id = $1`, [
      webhook.webhookId,
    ])
    await lab.tell('acme', 1, [webhook.webhookId])
    const [row] = await webhook.deliveriesWhen(wasAttempted)
    expect(row).toMatchObject({ status: 'failed', attempts: [{ error: { code: 'blocked' } }] })
  })

  test.each([301, 302, 303, 307, 308])('a redirect with %i, which is not followed', async (status) => {
    const target = lab.receiver.at(`/target/${status}`)
    const { row } = await attempted({ behaviour: redirectTo(target.url, status) })
    expect(row).toMatchObject({ status: 'failed', attempts: [{ response: { status }, error: { code: 'redirect' } }] })
    expect(target.received).toEqual([])
  })
})

describe('a receiver that asks for time', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()
  test.each<[string, () => Behaviour, number]>([
    ['429, seconds', () => answer(429, { 'retry-after': '120' }), 120],
    ['503, seconds', () => answer(503, { 'retry-after': '600' }), 600],
    ['429, a date', () => answer(429, { 'retry-after': inSeconds(3600) }), 3600],
    ['503, a date', () => answer(503, { 'retry-after': inSeconds(90) }), 90],
    ['for longer than a day', () => answer(429, { 'retry-after': '900000' }), webhookRetryAfterSecondsMax],
  ])('%s: it has it', async (_name, behaviour, seconds) => {
    const { row } = await attempted({ behaviour: behaviour() })
    expect(row.status).toBe('failed')
    // Dates are whole seconds.
    expect(pauseOf(row)).toBeGreaterThanOrEqual(seconds - 1)
    expectPauseAtMost(row, seconds)
    expect(row.attempts[0]?.retry_after_seconds).toBeGreaterThanOrEqual(seconds - 2)
  })

  test('and no other failure is given any', async () => {
    const { row } = await attempted({ behaviour: answer(500, { 'retry-after': '3600' }) })
    expectPause(row, 5)
  })
})

describe('the schedule', () => {
  test('eight attempts with growing pauses, the same id, a fresh signature; then it is dead', async () => {
    const { webhook } = await attempted({ behaviour: answer(500) })
    for (const [at, seconds] of webhookPauseSeconds.entries()) {
      const [row] = await webhook.deliveriesWhen(([each]) => each?.attempt_count === at + 1)
      expect(row).toMatchObject({ status: 'failed', tries: at + 1 })
      expectPause(row!, seconds)
      await webhook.makeDue()
    }
    const [row] = await webhook.deliveriesWhen(([each]) => each?.status === 'dead')
    expect(row).toMatchObject({ tries: 8, attempt_count: 8, next_attempt_at: null })
    const { received, faults } = webhook.receiving
    expect(received).toHaveLength(8)
    expect(new Set(received.map(({ id }) => id))).toEqual(new Set([row!.message_id]))
    expect(new Set(received.map(({ raw }) => raw.toString())).size).toBe(1)
    // Each was signed after the one before had come in; `t` is in whole seconds.
    for (const [at, { t, atMs }] of received.entries()) {
      expect(t).toBeLessThanOrEqual(atMs / 1000)
      if (at > 0) expect(t).toBeGreaterThanOrEqual(Math.floor(received[at - 1]!.atMs / 1000))
    }
    expect(faults).toEqual([])
    expect((await webhook.get()).health).toMatchObject({ pending: 0, dead: 1 })
  })

  test('a failure after a success begins it anew', async () => {
    const { webhook } = await attempted({ behaviour: answer(500) })
    webhook.receiving.behaviour = take
    await webhook.makeDue()
    await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
    const { health } = await webhook.get()
    expect(health).toMatchObject({ status: 'ok', failures: 0, pending: 0 })
    expect(health).not.toHaveProperty('failing_since')
  })

  test('a test message has one attempt', async () => {
    const webhook = await lab.connect({ behaviour: answer(500) })
    await lab.must('acme', 'POST', `${webhook.path}:test`)
    const [row] = await webhook.deliveriesWhen(wasAttempted)
    expect(row).toMatchObject({ kind: 'webhook.test', status: 'dead', tries: 1, next_attempt_at: null })
  })
})

describe('an endpoint is disabled', () => {
  test('by 410: nothing more is sent to it, and what waited is dead', async () => {
    const webhook = await lab.connect({ behaviour: answer(500) })
    await lab.tell('acme', 3, [webhook.webhookId])
    await webhook.deliveriesWhen((rows) => rows.length === 3 && rows.every(({ attempt_count }) => attempt_count === 1))
    webhook.receiving.behaviour = answer(410)
    await lab.tell('acme', 1, [webhook.webhookId])
    const rows = await webhook.deliveriesWhen((all) => all.length === 4 && all.every(({ status }) => status === 'dead'))
    expect(rows.at(-1)).toMatchObject({ attempts: [{ response: { status: 410 }, error: { code: 'gone' } }] })
    expect(await webhook.get()).toMatchObject({ enabled: false, disabled_reason: 'gone' })
    const events = await disabledEvents(webhook.webhookId)
    expect(events).toMatchObject([{ details: { reason: 'gone' } }])
    // It collects nothing any more.
    await lab.tell('acme', 1, [webhook.webhookId])
    const other = await lab.connect()
    await lab.tell('acme', 1, [other.webhookId])
    await other.receiving.count(1)
    expect(await webhook.deliveries()).toHaveLength(4)
    expect(webhook.receiving.received).toHaveLength(4)
  })

  test.each([
    [119, true],
    [121, false],
  ])('that failed for %i hours: enabled is %s', async (hours, enabled) => {
    const { webhook } = await attempted({ behaviour: answer(500) })
    await lab.superuser.query(
      'update hub.webhook_progress set failing_since = now() - make_interval(hours => $2) where webhook_id = $1',
      [webhook.webhookId, hours],
    )
    await webhook.makeDue()
    const [row] = await webhook.deliveriesWhen(([each]) => each?.attempt_count === 2)
    expect(row?.status).toBe(enabled ? 'failed' : 'dead')
    const now = await webhook.get()
    expect(now.enabled).toBe(enabled)
    expect(now.disabled_reason).toBe(enabled ? undefined : 'failing')
    expect(await disabledEvents(webhook.webhookId)).toHaveLength(enabled ? 0 : 1)
    const witness = await lab.connect()
    await lab.tell('acme', 1, [webhook.webhookId, witness.webhookId])
    await witness.receiving.count(1)
    expect(await webhook.deliveries(), 'it collects only while enabled').toHaveLength(enabled ? 2 : 1)
  })
})

test('what a receiver gets: the body and the headers of the interface', async () => {
  const webhook = await lab.connect({ tenant: 'globex' })
  await lab.tell('globex', 1, [webhook.webhookId])
  const [message] = await webhook.receiving.count(1)
  expect(Object.keys(message!.body)).toEqual(['id', 'kind', 'tenant', 'occurred_at', 'sequence', 'data'])
  expect(message!.body).toMatchObject({ kind: 'skill.invocation_failed', tenant: 'globex', sequence: 1 })
  expect(message!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'org-memory-hub',
    'x-service-tenant': 'globex',
    'x-service-webhook-id': message!.body.id,
  })
  expect(message!.headers['x-service-signature']).toMatch(/^t=[0-9]{10},v1=[0-9a-f]{64}$/)
})
