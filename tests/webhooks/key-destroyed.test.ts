import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ModeB, modeB } from '../cmek/mode-b-lab.ts'
import type { TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { answer } from './receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab } from './webhook-lab.ts'
import { insertDeliveries } from './webhook-rows.ts'

/** What is told of the records of a Mode B tenant, before and after its key is destroyed. */
let lab: WebhookLab
let b: ModeB
const slug = 'ends' as TestTenant
const needle = 'needle-4711'
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  b = await modeB(lab.hub, slug)
  await b.ready()
  await must('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
})
afterAll(() => lab.stop())

async function must(method: string, path: string, body?: unknown) {
  const answered = await b.call(method, path, body)
  if (answered.status >= 300) throw new Error(`${method} ${path}: ${answered.status} ${answered.text}`)
  return answered.body
}

const connect = async (behaviour: ReturnType<typeof answer>, events: readonly string[]) => {
  const receiving = lab.receiver.at(`/${receivers++}`)
  receiving.behaviour = behaviour
  const { webhook_id } = await must('POST', '/api/v1/webhooks', { url: receiving.url, events })
  return webhook_id as string
}
let receivers = 0

const rowsOf = async (webhookId: string) =>
  (
    await lab.superuser.query(
      `select kind, status, data, record_id, next_attempt_at is null as is_over, attempts::text as attempts
       from hub.webhook_deliveries where tenant_id = $1 and webhook_id = $2 order by sequence`,
      [slug, webhookId],
    )
  ).rows
const outboxText = async () => {
  const { rows } = await lab.superuser.query('select messages from hub.webhook_outbox where tenant_id = $1', [slug])
  return rows.map(({ messages }) => messages).join('\n')
}

test('of an invocation only what its columns have is told, and after the destruction nothing', async () => {
  const events = ['skill.*', 'governance.*']
  const echo: ReturnType<typeof answer> = (response) =>
    void response.writeHead(200, { 'content-type': 'text/plain', 'x-heard': needle }).end(needle)
  const taken = await connect(echo, events)
  const refused = await connect(answer(500), events)
  const invocation = event({
    ...{ success: false, error_code: needle, llm_model: `model-${needle}`, ts: '2026-01-05T09:30:00.123456Z' },
    ...{ skill_id: 'sum', latency_ms: 54_321, tokens_in: 7_654_321, tokens_out: 13 },
  })
  const { record_id } = await must('POST', '/api/v1/telemetry/events', invocation)
  const forbidden = [needle, '54321', '7654321', '09:30:00.123456']
  const found = (text: string) => forbidden.filter((each) => text.includes(each))
  expect(found(await outboxText())).toEqual([])
  const { worker } = lab.hub.modules.webhooks
  worker.start()
  await expect
    .poll(async () => (await rowsOf(taken)).filter(isSkill).map(({ status }) => status))
    .toEqual(['delivered', 'delivered'])
  await expect
    .poll(async () => (await rowsOf(refused)).filter(isSkill).map(({ status }) => status))
    .toEqual(['failed', 'failed'])
  const sent = [...(await rowsOf(taken)), ...(await rowsOf(refused))].filter(isSkill)
  const { rows: whole } = await lab.superuser.query(
    'select d::text as text from hub.webhook_deliveries d where tenant_id = $1 and record_id = $2 and status = $3',
    [slug, record_id, 'failed'],
  )
  expect(found(JSON.stringify([whole, sent.map(({ data }) => data)]))).toEqual([])
  expect(sent.map(({ data }) => Object.keys(JSON.parse(data)))).toEqual(
    Array(4).fill(['record_id', 'skill_id', 'archetype_id', 'user_id', 'cost_usd_estimate']),
  )

  await worker.stop()
  const custom = { record_type: 'governance_event', event_kind: 'custom.of_a_client' }
  await must('POST', '/api/v1/telemetry/events', invocation)
  await must('POST', '/api/v1/hub/records', custom)
  await must('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'lawyer' }] })
  await must('POST', '/api/v1/hub/cmek:destroy', { confirm: slug, reason: 'over' })

  const waiting = await outboxText()
  expect(waiting).not.toMatch(/"kind":"(skill|governance\.custom)\./)
  // What the service says itself is told on.
  expect(waiting).toContain('governance.tenant.config_changed')
  expect(waiting).toContain('governance.cmek.key_destroyed')
  const gone = { data: null, is_over: true, record_id }
  const after = (await rowsOf(taken)).filter(isSkill)
  expect(after).toMatchObject(Array(2).fill({ ...gone, status: 'delivered' }))
  expect(after.map(({ attempts }) => attempts).join()).not.toContain(needle)
  expect((await rowsOf(refused)).filter(isSkill)).toMatchObject(Array(2).fill({ ...gone, status: 'dead' }))
  const others = (await rowsOf(refused)).filter((row) => !isSkill(row))
  expect(others.every(({ data, status }) => data !== null && status !== 'dead')).toBe(true)
  expect(others.length).toBeGreaterThan(0)
})

const isSkill = ({ kind }: { kind: string }) => kind.startsWith('skill.')

test('all of them are met, however many they are, and those of another tenant are not', async () => {
  const other = await lab.connect({ tenant: 'acme' })
  const mine = await (async () => {
    const c = await modeB(lab.hub, 'many')
    await c.ready()
    const { body } = await c.call('POST', '/api/v1/webhooks', {
      url: lab.receiver.at('/many').url,
      events: ['skill.*'],
    })
    return { call: c.call, webhookId: body.webhook_id as string }
  })()
  const sent = {
    ...{ kind: `'skill.invocation_failed'`, record_id: 'gen_random_uuid()' },
    ...{ status: `'pending'`, next_attempt_at: `now() + interval '1 hour'` },
  }
  for (const endpoint of [
    { tenant: 'acme', webhookId: other.webhookId },
    { tenant: 'many', webhookId: mine.webhookId },
  ]) {
    await insertDeliveries(lab.superuser, endpoint, { count: 10_001, values: sent })
  }
  await mine.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'many', reason: 'over' })
  const { rows } = await lab.superuser.query(
    `select tenant_id, status, count(data)::int as sent, count(*)::int as all from hub.webhook_deliveries
     where webhook_id = any($1) group by 1, 2 order by 1`,
    [[other.webhookId, mine.webhookId]],
  )
  expect(rows).toEqual([
    { tenant_id: 'acme', status: 'pending', sent: 10_001, all: 10_001 },
    { tenant_id: 'many', status: 'dead', sent: 0, all: 10_001 },
  ])
})
