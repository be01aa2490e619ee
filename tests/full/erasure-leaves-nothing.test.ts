import { hash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseKeyDocument, recordHash, verifyDeletionCertificateSync } from '../../provenance/index.ts'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { readTexts, storedText } from '../../server/records/stored-text.ts'
import { pathOf, recordsPath } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { clearTx } from '../support/record-texts.ts'
import { event } from '../telemetry/events.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'

/**
 * What is written here carries a text that is found nowhere else; hours of use spread it; then it is erased. The reason
 * of a purge, skills and archetypes by their ids, and filters of exports and holds are no content and stay:
 * docs/retention.md, "Erasure".
 */
const needle = `zq${randomBytes(12).toString('hex')}`
const user = `user:${needle}@example.com`
const time = fakeClock()
let hub: TestHub
let client: pg.Client
let receiver: Receiver
const ids: string[] = []

beforeAll(async () => {
  hub = await startHub({ time, settings: { HUB_LOG_LEVEL: 'debug', HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
  client = await hub.superuserClient()
  receiver = await startReceiver()
  await prepareTelemetry(hub, 'acme')
})
afterAll(async () => {
  await hub.modules.webhooks.stop()
  await hub.stop()
  await receiver.stop()
})

async function call(method: string, path: string, body?: unknown, headers = {}) {
  const answer = await hub.call('acme', method, path, { body, headers })
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
  return answer.body
}

/** One takes messages and repeats what they said, one takes none. Both hear of everything. */
async function subscribe(): Promise<void> {
  const alerts = [{ metric: 'latency_p95_ms', group_by: 'user', above: 1, window_minutes: 60, min_invocations: 1 }]
  const thresholds = { latency_ms: 1 }
  for (const [path, status] of [
    ['/takes', 200],
    ['/refuses', 500],
  ] as const) {
    const receiving = receiver.at(path)
    receiving.behaviour = (response) => {
      const text = receiving.received.at(-1)!.raw.includes(needle) ? needle : ''
      response.writeHead(status, { 'x-repeated': text }).end(`heard ${text}`)
    }
    const events = ['skill.*', 'governance.*', 'user.*']
    receiving.secrets = [
      (await call('POST', '/api/v1/webhooks', { url: receiving.url, events, alerts, thresholds })).secret,
    ]
  }
}

/** Until the one has all that the other has not: nothing tells a test of what was written. */
async function delivered(): Promise<void> {
  hub.modules.webhooks.worker.start()
  await hub.modules.webhooks.alerts.evaluate(await hub.tenant('acme'))
  for (const endsMs = performance.now() + 60_000; ; ) {
    const { rows } = await client.query<{ open: number; about: number }>(
      `select count(*) filter (where status = 'pending')::int as open,
         count(*) filter (where strpos(data, $1) > 0)::int as about from hub.webhook_deliveries`,
      [needle],
    )
    const { rowCount } = await client.query('select from hub.webhook_outbox')
    // The custom event, 51 that were slow, and an alert about their user; for each of the two.
    if (rows[0]!.open === 0 && rowCount === 0 && rows[0]!.about >= 106) break
    if (performance.now() > endsMs) throw new Error(`still ${JSON.stringify({ ...rows[0], waiting: rowCount })}`)
    await delay(50)
  }
  await hub.modules.webhooks.worker.stop()
}

/** Records of every type, through every way in. */
async function writeAll(): Promise<void> {
  const key = (name: string) => ({ 'idempotency-key': `${name}-${needle}` })
  const bodies = [
    {
      record_type: 'skill_definition',
      ...{
        skill_id: 'translate',
        skill_version: '1.0.0',
        name: needle,
        description: needle,
        manifest: { a: [needle] },
      },
    },
    { record_type: 'output', skill_id: 'sum-up', title: needle, content: { deep: [{ text: needle }] }, user_id: user },
    { record_type: 'artifact', title: needle, uri: `https://example.com/${needle}`, content: needle },
    {
      record_type: 'decision',
      ...{ decision_id: needle, decision_subject: needle, decision_outcome: needle },
      ...{ decision_rationale: `it is ${needle}`, decision_actor_role: needle },
    },
    { record_type: 'governance_event', event_kind: `custom.${needle}`, subject: needle, details: { who: needle } },
  ]
  for (const body of bodies) {
    const related_records = ids.slice(-2)
    ids.push((await call('POST', recordsPath, { ...body, related_records }, key(body.record_type))).record_id)
  }
  const content = { user_id: user, metadata: { note: needle }, ts: new Date().toISOString() }
  const events = Array.from({ length: 50 }, (_, at) => event({ ...content, latency_ms: 100 + at }))
  const batch = await call('POST', '/api/v1/telemetry/events:batch', { events }, key('batch'))
  for (const { record_id } of batch.records) ids.push(record_id)
  ids.push((await call('POST', '/api/v1/telemetry/events', event(content), key('event'))).record_id)
  // What is refused is answered with what was sent, and must not be logged either.
  await hub.call('acme', 'POST', recordsPath, { body: { record_type: 'decision', [needle]: needle } })
  await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event({ ...content, latency_ms: -1 }) })
}

async function use(): Promise<void> {
  await hub.modules.rollups.rollups.settle('acme')
  const prices = [
    {
      ...{ llm_model: 'claude-3-haiku-20240307', effective_from: '2026-01-01T00:00:00Z' },
      ...{ input_usd_per_mtok: 7, output_usd_per_mtok: 7 },
    },
  ]
  await call('PUT', '/api/v1/telemetry/prices', { prices })
  const by = { actor: { operator: 'test' }, cause: {} }
  await hub.modules.telemetry.rating.rate(await hub.tenant('acme'), { from: '2026-01-01T00:00:00Z' }, by)
  await call('GET', `${recordsPath}?verify=true&user_id=${encodeURIComponent(user)}`)
  await call(
    'GET',
    `/api/v1/telemetry/summary?from=2026-01-01T00:00:00Z&group_by=user&user_id=${encodeURIComponent(user)}`,
  )
  await call('GET', pathOf(ids[3]!, '/related?depth=5'))
  await call('GET', '/api/v1/hub/log/entries?limit=1000')
  for (const order of [
    { format: 'jsonl' },
    { format: 'jsonl', compression: 'gzip' },
    { format: 'csv' },
    { format: 'parquet' },
  ]) {
    const { job_id } = await call('POST', '/api/v1/hub/records:export', { ...order, include_provenance: true })
    await completed(job_id)
  }
  const query = `user_id=${encodeURIComponent(user)}`
  await call('POST', '/api/v1/views', { page: 'records', name: 'Whose', query, shared: true })
  await client.query('analyze')
}

async function completed(jobId: string): Promise<void> {
  for (;;) {
    const { status, error } = await call('GET', `/api/v1/hub/exports/${jobId}`)
    if (status === 'completed') return
    expect(['queued', 'running'], JSON.stringify(error)).toContain(status)
    await delay(100)
  }
}

/** A text in the forms in which it might be kept. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  // The middle of its base64, for each place in a group of three bytes.
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return encoded.slice(shift === 0 ? 0 : 4, -4)
  })
  return [text, bytes.toString('hex'), ...base64]
}

/** Every table of the database but what is the same in every one, with all columns as text; bytes in hexadecimal. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm')`,
  )
  const wanted = texts.map((text) => text.toLowerCase())
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<[string]>({ text: `select t::text from ${name} t`, rowMode: 'array' })
    const all = rows.map(([row]) => row.toLowerCase()).join('\n')
    if (wanted.some((text) => all.includes(text))) found.push(name)
  }
  return found
}

async function filesWith(texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(hub.dataDir, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    const contents = [bytes, ...(bytes[0] === 0x1f && bytes[1] === 0x8b ? [gunzipSync(bytes)] : [])]
    if (contents.some((content) => texts.some((text) => content.includes(text)))) found.push(path)
  }
  return found
}

const exportFiles = () => Array.fromAsync(hub.modules.storage.list('exports/'))

test('no byte of what was erased is in a table, a file, a queue or the log of the service', async () => {
  await subscribe()
  await writeAll()
  await delivered()
  await use()
  const { rows: stored } = await client.query<{
    record_id: string
    canonical: string
    salt: Buffer
    provenance_hash: Buffer
  }>(
    `select r.record_id, ${storedText('r')} as canonical, r.salt, r.provenance_hash from hub.records r
     where r.record_id = any($1)`,
    [ids],
  )
  readTexts(clearTx, stored)
  expect(stored).toHaveLength(56)
  const digests = stored.flatMap(({ canonical, salt, provenance_hash }) => {
    expect(provenance_hash.equals(Buffer.from(recordHash(canonical, nodeCrypto.sha256)))).toBe(true)
    return [salt, provenance_hash].flatMap((bytes) => [bytes.toString('hex'), bytes.toString('base64')])
  })
  const texts = [...formsOf(needle), ...digests, hash('sha256', needle)]
  // Else the search would find nothing in any case.
  const before = await tablesWith(texts)
  for (const table of [
    'hub.telemetry_rollups',
    'hub.skill_versions',
    'hub.webhook_deliveries',
    'hub.webhook_alerts',
    'hub.saved_views',
    'hub.search_documents_all',
  ])
    expect(before).toContain(table)
  expect(before.filter((table) => table.startsWith('hub.records_')).length).toBeGreaterThan(0)
  expect((await filesWith(texts)).length).toBeGreaterThanOrEqual(3)
  expect((await exportFiles()).length).toBe(8)

  const [, , , , governance] = ids
  await call('POST', pathOf(governance!, '/legal-hold-releases'), { reason: 'Request 17' })
  for (const id of ids) await call('DELETE', pathOf(id, '?reason=Request%2017'))
  time.step({ days: 31 })
  await hub.modules.hub.jobs
    .find(({ name }) => name === 'hard-delete')!
    .handler({
      data: {},
      signal: new AbortController().signal,
    })
  await hub.modules.exports.settled()

  expect(await tablesWith(texts)).toEqual([])
  expect(await filesWith(texts)).toEqual([])
  expect(await exportFiles()).toEqual([])
  expect(hub.logLines.filter((line) => formsOf(needle).some((text) => line.includes(text)))).toEqual([])
})

test('the log still verifies, and every certificate checks', async () => {
  const acme = await hub.tenant('acme')
  expect(await hub.modules.hub.sweeper.sweep(acme)).toMatchObject({ failed: 0, inconsistent: 0 })
  const audit = await createLogAudit({
    database: hub.test.database,
    logs: hub.modules.log.logs,
    keys: hub.modules.keys.provenance,
  }).audit(acme, [])
  expect(audit).toMatchObject({ verified: true })
  const page = await call('GET', `${recordsPath}?verify=true&include_purged=true&limit=1000`)
  expect(page.verification_summary.verified).toBe(page.verification_summary.checked)
  const keys = parseKeyDocument(await call('GET', '/.well-known/provenance-keys.json'), nodeCrypto.sha256)
  for (const id of ids) {
    const certificate = await call('GET', pathOf(id, '/deletion-certificate'))
    expect(verifyDeletionCertificateSync(certificate, keys, nodeCrypto).failures).toEqual([])
    expect(JSON.stringify(certificate)).not.toContain(needle)
  }
})

test('the sums are what they were, under a name that tells nothing', async () => {
  const summary = () => call('GET', '/api/v1/telemetry/summary?from=2026-01-01T00:00:00Z&group_by=user')
  const { rows, totals } = await summary()
  expect(totals.invocations).toBe(51)
  expect(rows).toEqual([expect.objectContaining({ key: expect.stringMatching(/^user:erased-/), invocations: 51 })])
  await hub.modules.rollups.rollups.rebuild('acme')
  expect((await summary()).totals).toEqual(totals)
})
