import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** The files of the storage's folder whose path has the text, hidden ones too. */
async function storedFiles(part: string) {
  const { place } = hub.modules.storage
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    paths.filter((path) => path.includes(part)).map(async (path) => ({ path, bytes: await readFile(path) })),
  )
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
  const files = await storedFiles(job.job_id)
  expect(files.map(({ bytes }) => bytes.subarray(0, 8).toString())).toEqual(['omhfile1', 'omhfile1'])
  const { path, manifest } = await saved(job)
  const { outcome, report } = await verifyFile(path, { manifest })
  expect({ outcome, failures: report.failures }).toEqual({ outcome: 'verified', failures: [] })
  expect(report.checked).toBe(job.verification_summary.checked)
})

describe('somebody who has the database, and a token that reads telemetry,', () => {
  let reader: { authorization: string }
  beforeAll(async () => {
    const tenant = (await hub.modules.tenants.directory.read(b.slug))!
    const wanted = { name: 'reader', scopes: ['telemetry:read'] as const }
    const account = await hub.modules.auth.serviceAccounts.create(tenant, wanted, { operator: 'test' })
    const { client_id, client_secret } = account
    const answer = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
    })
    reader = { authorization: `Bearer ${((await answer.json()) as { access_token: string }).access_token}` }
  })
  const read = (path: string) => b.call('GET', path, undefined, reader)

  test('gets no file of other records by editing an order', async () => {
    const client = await hub.superuserClient()
    const reports = async () => (await b.events('hub.tamper_detected')).map(({ subject }) => subject)
    const own = await b.call('POST', `${records}:export`, { filter: { record_type: ['telemetry_event'] } }, reader)
    expect(own.status, own.text).toBe(202)
    await client.query(
      `update hub.exports set record_types = '{artifact}', filter = filter - 'record_type' where job_id = $1`,
      [own.body.job_id],
    )
    const all = await exported({ format: 'jsonl' })
    expect((await read(`/api/v1/hub/exports/${all.job_id}`)).status).toBe(404)
    await client.query(`update hub.exports set record_types = '{telemetry_event}' where job_id = any($1)`, [
      [all.job_id, own.body.job_id],
    ])
    for (const jobId of [all.job_id, own.body.job_id]) {
      expect((await read(`/api/v1/hub/exports/${jobId}`)).status).toBe(404)
      await expect.poll(reports).toContain(`export:${jobId}`)
    }
    expect((await read('/api/v1/hub/exports')).body.items).toEqual([])
    expect((await fetch(all.download_url)).status).toBe(403)
  })

  test('does not have other content opened by editing the type of a record', async () => {
    const client = await hub.superuserClient()
    const id = await write({ record_type: 'artifact', title: needle, content: [needle] })
    const setType = (type: string) =>
      client.query('update hub.records set record_type = $2 where record_id = $1', [id, type])
    await setType('telemetry_event')
    for (const path of [
      `/${id}`,
      `/${id}?verify=true`,
      `?record_id=${id}`,
      `?record_id=${id}&verify=true`,
      `/${id}/related`,
    ]) {
      const { status, text } = await read(`${records}${path}`)
      expect([status, text.includes(id), text.includes(needle)], path).toEqual([200, true, false])
    }
    for (const format of ['jsonl', 'csv']) {
      const filter = { record_type: ['telemetry_event'] }
      const { download_url } = await exported({ format, filter, include_provenance: true })
      const text = await (await fetch(download_url)).text()
      const line = text.split('\n').find((each) => each.includes(id))!
      expect(line).not.toContain(needle)
    }
    await setType('artifact')
    expect((await b.call('GET', `${records}/${id}?verify=true`)).body.verification.verified).toBe(true)
  })
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
  const clear = await hub.test.database.withTenant(b.slug, async (tx) => tx.contents.decrypt(b.slug, id, sealed))
  await put(clear)
  expect((await b.call('POST', `${records}/${id}/verify`)).body.verified).toBe(true)
  await put(clear.replace('downgraded', 'DOWNGRADED'))
  expect((await b.call('POST', `${records}/${id}/verify`)).body.verified).toBe(false)
  await put(sealed)
})

describe('the files of an export', () => {
  let job: { job_id: string; status: string; download_url: string; manifest_url: string }
  let plain: Buffer
  beforeAll(async () => {
    await write({ record_type: 'artifact', title: needle, content: randomBytes(150_000).toString('base64') })
    job = await exported({ format: 'jsonl', include_provenance: true })
    plain = Buffer.from(await (await fetch(job.download_url)).arrayBuffer())
  })

  test('have no content in the folder of the storage', async () => {
    expect(plain.includes(needle)).toBe(true)
    const files = await storedFiles('')
    expect(files.length).toBeGreaterThan(2)
    for (const { path, bytes } of files) expect([path, bytes.includes(needle)]).toEqual([path, false])
  })

  test('are downloaded in clear, whole and in ranges across blocks', async () => {
    const block = 64 * 1024
    expect(plain.length).toBeGreaterThan(2 * block)
    const head = await fetch(job.download_url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(plain.length))
    const ranges = [
      [0, 0],
      [block - 1, block],
      [block, 2 * block],
      [5, plain.length - 1],
      [plain.length - 1, plain.length - 1],
    ] as const
    for (const [start, end] of ranges) {
      const ifRange = head.headers.get('etag') as string
      const part = await fetch(job.download_url, { headers: { range: `bytes=${start}-${end}`, 'if-range': ifRange } })
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end}/${plain.length}`)
      expect(Buffer.from(await part.arrayBuffer()).equals(plain.subarray(start, end + 1)), `${start}-${end}`).toBe(true)
    }
    const behind = await fetch(job.download_url, { headers: { range: `bytes=${plain.length}-` } })
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, `bytes */${plain.length}`])
    await behind.arrayBuffer()
  })

  test('of a Mode A tenant stay in clear, and those of Mode B from an earlier version are read as they are', async () => {
    const [file] = (await storedFiles(job.job_id)).filter(({ path }) => path.endsWith('.jsonl'))
    await writeFile(file!.path, plain)
    expect(Buffer.from(await (await fetch(job.download_url)).arrayBuffer()).equals(plain)).toBe(true)
    await writeFile(file!.path, file!.bytes)
    const order = await hub.call('acme', 'POST', `${records}:export`, { body: {} })
    const ended = async () => (await hub.call('acme', 'GET', `/api/v1/hub/exports/${order.body.job_id}`)).body.status
    await expect.poll(ended).toBe('completed')
    const clear = await storedFiles(order.body.job_id)
    expect(clear.map(({ bytes }) => bytes.subarray(0, 1).toString())).toEqual(['{', '{'])
  })

  test('are gone with the key: the address says why, even where a copy of the files came back', async () => {
    const kept = await storedFiles(job.job_id)
    const client = await hub.superuserClient()
    const rowOf = async () =>
      (await client.query('select status, expires_at, error from hub.exports where job_id = $1', [job.job_id])).rows[0]
    const before = await rowOf()
    const destroyed = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: b.slug, reason: 'over' })
    expect(destroyed.status, destroyed.text).toBe(200)
    const refusal = async (url: string) => {
      const answer = await fetch(url)
      const { type, detail } = (await answer.json()) as { type: string; detail: string }
      return [answer.status, type.split('/').at(-1), detail]
    }
    for (const url of [job.download_url, job.manifest_url]) {
      expect(await refusal(url)).toEqual([
        403,
        'invalid-download-url',
        'The key of the tenant was destroyed, and its content with it.',
      ])
    }
    expect((await b.call('GET', `/api/v1/hub/exports/${job.job_id}`)).body).toMatchObject({
      status: 'expired',
      error: { detail: 'The key of the tenant was destroyed, and its content with it.' },
    })
    await hub.modules.exports.settled()
    expect(await storedFiles(job.job_id)).toEqual([])
    for (const { path, bytes } of kept) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes)
    }
    await client.query('update hub.exports set status = $2, expires_at = $3, error = $4 where job_id = $1', [
      ...[job.job_id, before.status, before.expires_at, before.error],
    ])
    expect(await refusal(job.download_url)).toEqual([
      403,
      'invalid-download-url',
      'The file can no longer be decrypted: the key of the tenant was destroyed. Its content cannot be recovered.',
    ])
  })
})
