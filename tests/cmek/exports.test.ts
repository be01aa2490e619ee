import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { type ModeB, modeB } from './mode-b-lab.ts'

const needle = `zq${randomBytes(12).toString('hex')}`
const records = '/api/v1/hub/records'
let hub: TestHub
let b: ModeB
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-mode-b-exports-'))
  hub = await startHub()
  b = await modeB(hub, 'exporting')
  await b.ready()
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
  for (let at = 0; at < 5; at++) await write({ record_type: 'artifact', title: `${needle} ${at}`, content: { needle } })
  await write({ record_type: 'output', skill_id: 'sum', title: needle, content: [needle] })
  const given = event({ skill_id: 'sum', metadata: { note: needle } })
  const events = await b.call('POST', '/api/v1/telemetry/events:batch', { events: [given, given, given] })
  expect(events.body.accepted, events.text).toBe(3)
})
afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

async function write(body: Record<string, unknown>): Promise<string> {
  const answer = await b.call('POST', records, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.record_id
}

async function exported(order: Record<string, unknown>) {
  let job = await b.call('POST', `${records}:export`, order)
  expect(job.status, job.text).toBe(202)
  while (['queued', 'running'].includes(job.body.status)) {
    await delay(20)
    job = await b.call('GET', `/api/v1/hub/exports/${job.body.job_id}`)
  }
  return job.body
}

/** Saves the file and its manifest, as somebody does who downloads them. */
async function saved(job: { job_id: string; download_url: string; manifest_url: string }) {
  const path = join(directory, new URL(job.download_url).pathname.split('/').at(-1)!)
  await writeFile(path, Buffer.from(await (await fetch(job.download_url)).arrayBuffer()))
  const manifest = `${path}.manifest.json`
  await writeFile(manifest, Buffer.from(await (await fetch(job.manifest_url)).arrayBuffer()))
  return { path, manifest }
}

test.each([
  ['jsonl', 'none'],
  ['jsonl', 'gzip'],
  ['csv', 'none'],
  ['parquet', 'none'],
])('an export as %s (%s) has the content in clear, and verifies offline', async (format, compression) => {
  const job = await exported({
    format,
    include_provenance: true,
    verify: true,
    ...(compression === 'gzip' && { compression }),
  })
  expect(job).toMatchObject({ status: 'completed', verification_summary: { tampered: 0, cosign_invalid: 0 } })
  expect(job.verification_summary.verified).toBe(job.verification_summary.checked)
  const { path, manifest } = await saved(job)
  const { outcome, report } = await verifyFile(path, { manifest })
  expect({ outcome, failures: report.failures }).toEqual({ outcome: 'verified', failures: [] })
  expect(report.checked).toBe(job.verification_summary.checked)
})

test('a text that was moved or edited is exported as tampered, and nothing is said to be verified that is not', async () => {
  const [mine, twin] = [
    await write({ record_type: 'artifact', title: 'mine' }),
    await write({ record_type: 'artifact', title: 'twin' }),
  ]
  const client = await hub.superuserClient()
  const textOf = async (id: string) =>
    (await client.query<{ canonical: string }>('select canonical from hub.records where record_id = $1', [id])).rows[0]!
      .canonical
  const put = (text: string) => client.query('update hub.records set canonical = $1 where record_id = $2', [text, mine])
  const original = await textOf(mine)
  for (const text of [await textOf(twin), `omhe1.ck_${'0'.repeat(24)}.${mine}.AAAA`, 'omhe1.', '{"record_id":"x"}']) {
    await put(text)
    const job = await exported({ format: 'jsonl', verify: true, include_provenance: true })
    expect(job, text).toMatchObject({ status: 'completed', verification_summary: { tampered: 1 } })
    const { body } = await b.call('POST', `${records}/${mine}/verify`)
    expect(body, text).toMatchObject({ verified: false, checks: { provenance_hash_matches: false } })
  }
  await put(original)
})

test('the true text in the place of what was sealed is the record, and any other is tampered', async () => {
  const id = await write({ record_type: 'artifact', title: 'downgraded' })
  const client = await hub.superuserClient()
  const { canonical: sealed } = (
    await client.query<{ canonical: string }>('select canonical from hub.records where record_id = $1', [id])
  ).rows[0]!
  const put = (text: string) => client.query('update hub.records set canonical = $1 where record_id = $2', [text, id])
  const clear = await hub.test.database.withTenant(b.slug, async (tx) => tx.contents.open(b.slug, id, sealed))
  await put(clear)
  expect((await b.call('POST', `${records}/${id}/verify`)).body.verified).toBe(true)
  await put(clear.replace('downgraded', 'DOWNGRADED'))
  expect((await b.call('POST', `${records}/${id}/verify`)).body.verified).toBe(false)
  await put(sealed)
})
