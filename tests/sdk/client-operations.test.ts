import { afterAll, beforeAll, expect, test } from 'vitest'
import { ExportFailed, HubClient } from '../../sdk/typescript/src/index.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let client: HubClient
beforeAll(async () => {
  hub = await startHub()
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  client = new HubClient({ baseUrl: hub.baseUrl, tenant: 'acme', accessToken: await hub.token('acme') })
  await client.records.write({
    record_type: 'skill_definition',
    skill_id: 'summarise',
    skill_version: '1.0.0',
    name: 'Summarise',
  })
})
afterAll(() => hub.stop())

const decision = (subject: string) => ({
  record_type: 'decision' as const,
  decision_id: subject,
  decision_subject: subject,
  decision_outcome: 'approved',
  decision_rationale: 'because',
  decision_actor_role: 'owner',
})
const event = {
  skill_id: 'summarise',
  skill_version: '1.0.0',
  archetype_id: 'agent',
  user_id: 'user:kim@example.com',
  llm_platform: 'claude',
  ts: new Date().toISOString(),
  success: true,
  latency_ms: 900,
  tokens_in: 10,
  tokens_out: 5,
  cost_usd_estimate: 0.01,
}

test('writes, reads, verifies, relates, pages and finds records', async () => {
  const first = await client.records.write(decision('vendor'))
  const again = { idempotencyKey: 'one-key' }
  const linked = { ...decision('renewal'), related_records: [first.record_id] }
  const second = await client.records.write(linked, again)
  expect((await client.records.write(linked, again)).record_id).toBe(second.record_id)

  expect(await client.records.get(first.record_id, { verify: true })).toMatchObject({
    verification: { verified: true },
  })
  expect(await client.records.verify(first.record_id)).toMatchObject({ verified: true })
  const { records } = await client.records.related(first.record_id, { depth: 1 })
  expect(records.map(({ record_id }) => record_id)).toEqual([first.record_id, second.record_id])

  const listed = client.records.list({ record_type: 'decision', limit: 1 })
  const expected = [first.record_id, second.record_id]
  expect(await Array.fromAsync(listed, ({ record_id }) => record_id)).toEqual(expected)
  expect(await Array.fromAsync(listed.pages(), ({ records }) => records.length)).toEqual([1, 1])

  const results = await Array.fromAsync(client.search('renewal'))
  expect(results.map(({ record }) => record.record_id)).toEqual([second.record_id])
  expect((await client.suggest('summ', { kind: 'skill' })).items).toMatchObject([{ id: 'summarise' }])

  await client.records.purge(second.record_id, 'a test')
  expect(await client.records.get(second.record_id)).toMatchObject({ is_purged: true })
  expect(await client.records.restore(second.record_id)).toMatchObject({ is_purged: false })
})

test('sends events one by one and in batches, and reads their sums', async () => {
  await client.telemetry.send(event)
  const batch = await client.telemetry.sendBatch([event, { ...event, latency_ms: 0 }])
  expect(batch).toMatchObject({ accepted: 1, failed: 1, errors: [{ index: 1 }] })
  await expect(client.telemetry.send({ ...event, skill_id: 'unknown' })).rejects.toMatchObject({
    slug: 'skill-not-registered',
    pointer: '/skill_id',
  })
  const day = 86_400_000
  const from = new Date(Math.floor(Date.now() / day - 1) * day).toISOString()
  const to = new Date(Math.floor(Date.now() / day + 2) * day).toISOString()
  await expect
    .poll(async () => (await client.telemetry.summary({ from, to, group_by: 'skill' })).totals.invocations)
    .toBe(2)
})

test('exports: starts, polls and streams the file', async () => {
  const { job_id } = await client.exports.start({ filter: { record_type: ['skill_definition'] }, format: 'jsonl' })
  const seen: string[] = []
  const job = await client.exports.completed(job_id, { onProgress: ({ status }) => seen.push(status) })
  expect(seen.at(-1)).toBe('completed')
  const text = await new Response(await client.exports.download(job)).text()
  expect(JSON.parse(text.split('\n')[0]!)).toMatchObject({ skill_id: 'summarise' })
  expect(await Array.fromAsync(client.exports.list(), (each) => each.job_id)).toContain(job_id)
  const { download_url, ...unfinished } = job
  await expect(client.exports.download(unfinished)).rejects.toThrow(ExportFailed)
})

test('names what another tenant or scope may not do', async () => {
  const { record_id } = await client.records.write(decision('private'))
  const connect = async (tenant: 'acme' | 'globex', scopes?: readonly ['telemetry:read']) =>
    new HubClient({ baseUrl: hub.baseUrl, tenant, accessToken: await hub.token(tenant, scopes) })
  await expect((await connect('globex')).records.get(record_id)).rejects.toMatchObject({ slug: 'not-found' })
  await expect((await connect('acme', ['telemetry:read'])).telemetry.send(event)).rejects.toMatchObject({
    slug: 'insufficient-scope',
    status: 403,
  })
})
