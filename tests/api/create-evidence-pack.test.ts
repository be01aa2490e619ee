import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { evidenceFiles } from '../../provenance/evidence-pack.ts'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type ExportsHub, startExportsHub } from '../exports/ordered-exports.ts'
import { archiveOf, filesIn, openPacksLab, type PackFiles, packsPath, rowsIn } from '../exports/packs-lab.ts'
import { fakeClock } from '../support/fake-clock.ts'

const needle = `zq${randomBytes(12).toString('hex')}`
const time = fakeClock()
let lab: ExportsHub
let packs: Awaited<ReturnType<typeof openPacksLab>>
const now = () => new Date(time.wallMs()).toISOString()
let start: string
let erased: string
let purged: string
let held: string
/** The archive of the whole period, without content. */
let path: string
let files: PackFiles

const decision = {
  record_type: 'decision',
  decision_subject: needle,
  decision_outcome: 'approved',
  decision_rationale: needle,
  decision_actor_role: 'controller',
}

async function write(body: object): Promise<string> {
  const answer = await lab.call('acme', 'POST', '/api/v1/hub/records', { body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.record_id
}
const purge = (id: string) => lab.call('acme', 'DELETE', `/api/v1/hub/records/${id}?reason=Request%2017`)

beforeAll(async () => {
  start = now()
  lab = await startExportsHub({ time })
  packs = await openPacksLab(lab)
  lab.hub.modules.checkpoints.keeper.start()
  erased = await write({ ...decision, decision_id: 'd-1' })
  await purge(erased)
  time.step({ days: 31 })
  await lab.hub.modules.hub.erasure.run(await lab.hub.tenant('acme'))
  purged = await write({ ...decision, decision_id: 'd-2' })
  await purge(purged)
  held = await write({ ...decision, decision_id: 'd-3' })
  const hold = { name: '<b>Audit & more</b>', reason: 'Request 18', record_ids: [held] }
  await lab.call('acme', 'POST', '/api/v1/hub/legal-holds', { body: hold })
  const rules = { rules: [{ record_type: 'output', min_days: 365 }] }
  await lab.call('acme', 'PUT', '/api/v1/hub/retention-rules', { body: rules })
  time.step({ ms: 60_000 })
  path = await packs.ordered('acme', { from: start, to: now(), note: '<script>alert(1)</script>' })
  files = await filesIn(path)
})
afterAll(async () => {
  await lab.hub.modules.checkpoints.keeper.stop()
  await lab.close()
  await packs.close()
})

describe('a pack', () => {
  test('is accepted as an export, named in the log, and listed among them', async () => {
    const { status, headers, body } = await lab.call('acme', 'POST', packsPath, { body: { from: start, to: now() } })
    expect(status).toBe(202)
    expect(body).toEqual({
      job_id: expect.stringMatching(/^exp_[A-Za-z0-9]{24}$/),
      status: 'queued',
      estimated_completion_ts: expect.any(String),
    })
    expect(headers.get('location')).toBe(`/api/v1/hub/exports/${body.job_id}`)
    const ended = await lab.ended('acme', body.job_id)
    expect(ended).toMatchObject({
      status: 'completed',
      evidence_pack: { from: start.replace('Z', '000Z'), include_content: false },
    })
    expect(ended).not.toHaveProperty('manifest_url')
    const part = await fetch(ended.download_url, { headers: { range: 'bytes=0-1' } })
    expect([part.status, part.headers.get('content-type')]).toEqual([206, 'application/gzip'])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from([0x1f, 0x8b]))
    const event = (await lab.events('acme')).find(({ subject }) => subject === `export:${body.job_id}`)
    expect(event).toMatchObject({
      event_kind: 'hub.export_created',
      details: { evidence_pack: { include_content: false, note: null } },
    })
    expect(Object.keys((await lab.call('acme', 'GET', '/api/v1/hub/exports?limit=1')).body.items[0])).toContain(
      'format',
    )
  })

  test('has its files in their order, and nothing else remains in the storage', async () => {
    expect([...files.keys()]).toEqual(['manifest.json', ...evidenceFiles])
    const { place } = lab.hub.modules.storage
    const { readdir } = await import('node:fs/promises')
    const left = await readdir(`${place}/exports/acme`, { recursive: true })
    expect(left.filter((name) => name.includes('.parts'))).toEqual([])
  })

  test('verifies offline, with keys of its own and with known ones', async () => {
    const own = await packs.verified(path)
    expect(own.report.failures).toEqual([])
    expect([own.outcome, own.proof.pack?.completeness]).toEqual(['verified', 'enclosed'])
    const pinned = await packs.verified(path, await packs.keyFile('acme'))
    expect(pinned.outcome).toBe('verified')
    expect(pinned.report.checked).toBeGreaterThan(5)
    expect((await packs.verified(path, await otherKeys())).outcome).toBe('failed')
  })

  test('has held records, and proves purged and erased ones without their content', () => {
    const ids = rowsIn(files, 'records.jsonl').map(({ record_id }) => record_id)
    expect(ids).toContain(held)
    expect(ids).not.toContain(purged)
    expect(ids).not.toContain(erased)
    expect(rowsIn(files, 'purged-records.jsonl')).toMatchObject([{ record_id: purged, purge_reason: 'Request 17' }])
    expect(rowsIn(files, 'deletion-certificates.jsonl').map(({ record_id }) => record_id)).toEqual([erased])
    expect(rowsIn(files, 'holds.jsonl')).toMatchObject([{ name: '<b>Audit & more</b>', record_count: 1 }])
    expect(rowsIn(files, 'retention-changes.jsonl')).toMatchObject([{ details: { change: 'retention_rules' } }])
    expect(JSON.parse(files.get('retention.json')!.toString()).rules).toEqual([
      { record_type: 'output', min_days: 365 },
    ])
    expect(JSON.parse(files.get('verification.json')!.toString())).toMatchObject({ failed: 0, inconsistent: 0 })
    expect(JSON.parse(files.get('usage.json')!.toString()).records).toMatchObject({ artifact: 5, decision: 1 })
    for (const person of rowsIn(files, 'people.jsonl')) expect(person).not.toHaveProperty('email')
  })

  test('has content on request only', async () => {
    for (const [name, content] of files) expect(content.includes(needle), name).toBe(false)
    const row = rowsIn(files, 'records.jsonl').find(({ record_id }) => record_id === held)
    expect(row).toMatchObject({ content_omitted: true, record_type: 'decision', created_at: expect.any(String) })
    const whole = await packs.ordered('acme', { from: start, to: now(), include_content: true })
    expect((await filesIn(whole)).get('records.jsonl')!.includes(needle)).toBe(true)
    expect((await packs.verified(whole)).report.failures).toEqual([])
  })

  test('has a report that escapes every value, and runs nothing', () => {
    const report = files.get('report.html')!.toString()
    expect(report).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(report).toContain('&lt;b&gt;Audit &amp; more&lt;/b&gt;')
    expect(report).not.toMatch(/<script|<b>|https?:\/\//)
    expect(report).toContain("default-src 'none'")
  })

  test('of a later period is enclosed by stored checkpoints', async () => {
    await lab.call('acme', 'GET', '/api/v1/hub/log/checkpoint')
    await expect.poll(() => lab.hub.modules.checkpoints.newest(logName())).toBeDefined()
    time.step({ ms: 300_000 })
    const from = now()
    await write({ record_type: 'artifact', title: 'Later' })
    time.step({ ms: 300_000 })
    const later = await packs.ordered('acme', { from, to: now() })
    const manifest = JSON.parse((await filesIn(later)).get('manifest.json')!.toString())
    expect(manifest.log.before).toMatchObject({ checkpoint: expect.any(String) })
    const { proof, report } = await packs.verified(later)
    expect(report.failures).toEqual([])
    expect(proof.pack?.completeness).toBe('enclosed')
    expect(proof.pack?.range?.from).toBeGreaterThan(0)
  })
})

function logName(): string {
  return JSON.parse(files.get('manifest.json')!.toString()).log.name
}

async function otherKeys(): Promise<string> {
  const globex = await packs.keyFile('globex')
  const { readFile, writeFile } = await import('node:fs/promises')
  const { keys } = JSON.parse(await readFile(globex, 'utf8'))
  const other = keys.filter(({ name }: { name: string }) => name !== logName())
  await writeFile(globex, JSON.stringify({ keys: other }))
  return globex
}

describe('hub verify finds', () => {
  const failuresOf = async (archive: Buffer) => {
    const { outcome, report } = await packs.verified(await packs.save(archive))
    expect(outcome).toBe('failed')
    return report.failures.map(({ reason }) => reason).join('\n')
  }
  const flipped = (content: Buffer) => {
    const changed = Buffer.from(content)
    const at = Math.floor(changed.length / 2)
    changed[at] = changed[at]! ^ 1
    return changed
  }

  test.each(['manifest.json', ...evidenceFiles])('a change of %s', async (name) => {
    if (files.get(name)!.length === 0) return expect(name).toMatch(/jsonl$/)
    const changed = [...files].map(([each, content]): [string, Buffer] => [
      each,
      each === name ? flipped(content) : content,
    ])
    expect(await failuresOf(await archiveOf(changed))).not.toBe('')
  })

  test.each([...evidenceFiles])('that %s is absent', async (name) => {
    expect(await failuresOf(await archiveOf([...files].filter(([each]) => each !== name)))).toMatch(/^pack-malformed/m)
  })

  test('a record that was removed', async () => {
    const lines = files.get('records.jsonl')!.toString().split('\n')
    const fewer = Buffer.from([...lines.slice(0, 2), ...lines.slice(3)].join('\n'))
    const changed = [...files].map(([each, content]): [string, Buffer] => [
      each,
      each === 'records.jsonl' ? fewer : content,
    ])
    expect(await failuresOf(await archiveOf(changed))).toContain('records.jsonl has')
  })

  test.each([
    ['other files', Array.from({ length: evidenceFiles.length }, (_, at) => `file${at}.txt`)],
    ['no keys', evidenceFiles.map((name) => (name === 'keys.json' ? 'key.json' : name))],
    ['files in another order', [...evidenceFiles].reverse()],
  ])('an unsigned manifest that lists %s', async (_, names) => {
    const content = Buffer.from('forged')
    const sha256 = createHash('sha256').update(content).digest('hex')
    const stated = names.map((name) => ({ name, size_bytes: content.length, sha256 }))
    const manifest = { ...JSON.parse(files.get('manifest.json')!.toString()), statement: 'none', files: stated }
    const forged = names.map((name): [string, Buffer] => [name, content])
    const archive = await archiveOf([['manifest.json', Buffer.from(JSON.stringify(manifest))], ...forged])
    expect(await failuresOf(archive)).toMatch(/^pack-malformed: its manifest does not list keys.json/m)
    const known = await packs.verified(await packs.save(archive), await packs.keyFile('acme'))
    expect(known.outcome).toBe('failed')
  })

  test('a manifest of the records that would fill the disk', async () => {
    const bomb = Buffer.alloc(32 * 1024 * 1024, 0x20)
    const manifest = JSON.parse(files.get('manifest.json')!.toString())
    for (const file of manifest.files) if (file.name === 'records.jsonl.manifest.json') file.size_bytes = bomb.length
    const changed = [...files].map(([name, content]): [string, Buffer] => {
      if (name === 'manifest.json') return [name, Buffer.from(JSON.stringify(manifest))]
      return [name, name === 'records.jsonl.manifest.json' ? bomb : content]
    })
    expect(await failuresOf(await archiveOf(changed))).toContain('has too many bytes: 33554432')
  })

  test.each([
    ['a path out of the folder', '../../etc/passwd'],
    ['an absolute path', '/etc/passwd'],
    ['a name that nothing lists', 'extra.json'],
  ])('%s', async (_, name) => {
    const failures = await failuresOf(await archiveOf([...files, [name, Buffer.from('x')]]))
    expect(failures).toMatch(/^pack-malformed: it has/m)
  })

  test('a file twice, a link, a false size, an early end and a tail', async () => {
    const [first, ...others] = [...files]
    expect(await failuresOf(await archiveOf([first!, others[0]!, ...others]))).toContain('where its manifest lists')
    const link = pack()
    link.entry({ name: 'manifest.json', type: 'symlink', linkname: '/etc/passwd' })
    link.finalize()
    expect(await failuresOf(gzipSync(await buffer(link)))).toContain('no file of an evidence pack')
    const whole = await archiveOf(files)
    expect(await failuresOf(whole.subarray(0, whole.length - 100))).toMatch(/^file-damaged/m)
    expect(await failuresOf(Buffer.concat([whole, gzipSync(Buffer.alloc(512, 1))]))).toContain('something follows')
    const huge = pack()
    huge.entry({ name: 'manifest.json' }, Buffer.alloc(2 * 1024 * 1024, 0x20))
    huge.finalize()
    expect(await failuresOf(gzipSync(await buffer(huge)))).toContain('has more than 1048576 bytes')
  })
})

describe('is refused', () => {
  const hour = 3_600_000
  const at = (ms: number) => new Date(time.wallMs() + ms).toISOString()
  test.each<[string, () => object, string]>([
    ['without a start', () => ({ to: at(0) }), '/from'],
    ['without an end', () => ({ from: at(-hour) }), '/to'],
    ['with a start that is none', () => ({ from: 'yesterday', to: at(0) }), '/from'],
    ['with an end that is none', () => ({ from: at(-hour), to: '2026-02-30T00:00:00Z' }), '/to'],
    ['with an end before its start', () => ({ from: at(-hour), to: at(-2 * hour) }), '/from'],
    ['with an empty period', () => ({ from: start, to: start }), '/from'],
    ['with an end in the future', () => ({ from: at(-hour), to: at(hour) }), '/to'],
    ['with too long a period', () => ({ from: '1990-01-01T00:00:00Z', to: at(0) }), '/from'],
    ['with too long a note', () => ({ from: at(-hour), to: at(0), note: 'x'.repeat(2001) }), '/note'],
    ['with a note that is no text', () => ({ from: at(-hour), to: at(0), note: 1 }), '/note'],
    ['with a text for content', () => ({ from: at(-hour), to: at(0), include_content: 'yes' }), '/include_content'],
    ['with another member', () => ({ from: at(-hour), to: at(0), format: 'zip' }), '/format'],
  ])('%s', async (_, body, pointer) => {
    const answer = await lab.call('acme', 'POST', packsPath, { body: body() })
    expect([answer.status, answer.body.type.split('/').at(-1)]).toEqual([400, 'validation-failed'])
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
  })

  test('without a token, to other tenants, and without the scope for every type', async () => {
    const body = { from: start, to: now() }
    for (const scopes of [['telemetry:read', 'governance:read'], ['hub:write']] satisfies Scope[][]) {
      expect(await commonRejections(lab, 'POST', packsPath, { scopes, body })).toEqual(allRefused)
    }
  })

  test('to other tenants and readers of some types, when it is polled', async () => {
    const { job_id } = (await lab.call('acme', 'POST', packsPath, { body: { from: start, to: now() } })).body
    const poll = (tenant: string, scopes?: readonly Scope[]) =>
      lab.call(tenant, 'GET', `/api/v1/hub/exports/${job_id}`, scopes ? { scopes } : {})
    expect((await poll('globex')).status).toBe(404)
    expect((await poll('acme', ['telemetry:read', 'governance:read'])).status).toBe(404)
    const { download_url } = await lab.ended('acme', job_id)
    const url = new URL(download_url)
    url.searchParams.set('tenant', 'globex')
    expect((await fetch(url)).status).toBe(403)
    // A further hub.export_cancelled shows that a completed pack can no longer be cancelled.
    expect((await lab.call('acme', 'POST', `/api/v1/hub/exports/${job_id}:cancel`, { body: {} })).status).toBe(409)
  })
})
