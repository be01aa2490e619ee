import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { exportTriesMax } from '../../contract/limits.ts'
import { type SecondHub, startSecondHub } from '../auth/second-hub.ts'
import { filesIn, packsPath, rowsIn } from '../exports/packs-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type KeyService, startVault } from './key-services.ts'
import { type ModeB, modeB, provisionPath } from './mode-b-lab.ts'

const needle = 'Xylophone'
const from = new Date().toISOString()
let directory: string
let vault: KeyService
let hub: TestHub
let b: ModeB
/** A process without keys in memory, which writes the packs. */
let worker: SecondHub
/** The status of the vault's answers, by the number of keys that it was asked for since {@link startWorker}. */
let answers: (asked: number) => number | undefined = () => undefined
let askedBefore = 0

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-packs-away-'))
  vault = await startVault('a-token', ['transit/one'])
  Object.defineProperty(vault, 'fails', { get: () => answers(vault.requests.length - askedBefore) })
  hub = await startHub({
    settings: { HUB_VAULT_ADDR: vault.url, HUB_VAULT_TOKEN: 'a-token', HUB_VAULT_KEYS: 'away=*' },
    // This process takes the orders, and writes none of them.
    adapt: (modules) => {
      const jobs = modules.exports.jobs.map((job) => ({ ...job, handler: async () => {} }))
      modules.exports = { ...modules.exports, jobs }
    },
  })
  b = await modeB(hub, 'away')
  const made = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'one' } })
  expect(made.status, made.text).toBe(200)
  await writeArtifact()
  // The next records have another content key.
  const rotated = await b.call('POST', '/api/v1/hub/cmek:rotate', {})
  expect(rotated.status, rotated.text).toBe(200)
  await writeArtifact()
})
afterEach(async () => {
  answers = () => undefined
  await worker.stop()
})
afterAll(async () => {
  await hub.stop()
  await vault.close()
  await rm(directory, { recursive: true, force: true })
})

async function writeArtifact(): Promise<void> {
  const written = await b.call('POST', '/api/v1/hub/records', { record_type: 'artifact', title: needle })
  expect(written.status, written.text).toBe(201)
}

async function startWorker(): Promise<void> {
  const vaultSettings = { vault: { address: vault.url, token: 'a-token' } as never }
  worker = await startSecondHub(hub, { settings: { ...vaultSettings, dataDir: hub.dataDir } })
  askedBefore = vault.requests.length
}

async function order(): Promise<string> {
  const body = { from, to: new Date().toISOString(), include_content: true }
  const answer = await b.call('POST', packsPath, body)
  expect(answer.status, answer.text).toBe(202)
  return answer.body.job_id
}

/** Makes one attempt to write the pack. */
async function attempt(jobId: string): Promise<void> {
  const [job] = worker.modules.exports.jobs
  const run = { data: { tenant: b.slug, job_id: jobId }, signal: new AbortController().signal }
  await job!.handler(run as Parameters<NonNullable<typeof job>['handler']>[0])
}

const polled = async (jobId: string) => (await b.call('GET', `/api/v1/hub/exports/${jobId}`)).body
const stored = async (jobId: string) => {
  const names = await readdir(hub.modules.storage.place, { recursive: true })
  return names.filter((name) => name.includes(`${jobId}.`))
}

async function expectWhole(jobId: string): Promise<void> {
  const { status, download_url } = await polled(jobId)
  expect(status).toBe('completed')
  const path = join(directory, `${jobId}.tar.gz`)
  await writeFile(path, Buffer.from(await (await fetch(download_url)).arrayBuffer()))
  const { outcome, report } = await verifyFile(path, {})
  expect([outcome, report.failures]).toEqual(['verified', []])
  const artifacts = rowsIn(await filesIn(path), 'records.jsonl').filter(({ record_type }) => record_type === 'artifact')
  expect(artifacts.map(({ title, content_omitted }) => [title, content_omitted])).toEqual([
    [needle, undefined],
    [needle, undefined],
  ])
}

test.each<[string, (asked: number) => number | undefined]>([
  ['from the start', () => 503],
  ['for the second of two content keys', (asked) => (asked > 1 ? 503 : undefined)],
])('a pack whose key is away %s waits without a file, and is whole when the key is back', async (_, fails) => {
  const jobId = await order()
  await startWorker()
  answers = fails
  await expect(attempt(jobId)).rejects.toMatchObject({ slug: 'hub-unavailable' })
  expect(vault.requests.length).toBeGreaterThan(askedBefore)
  const waiting = await polled(jobId)
  expect(waiting.status).toBe('queued')
  expect(waiting).not.toHaveProperty('download_url')

  answers = () => undefined
  // The worker remembers a failure of the provider for a second.
  await expect
    .poll(() =>
      attempt(jobId)
        .then(() => true)
        .catch(() => delay(200).then(() => false)),
    )
    .toBe(true)
  await expectWhole(jobId)
})

test('a pack whose key stays away fails with the reason, and leaves no file', async () => {
  const jobId = await order()
  await startWorker()
  answers = () => 503
  for (let tries = 1; tries < exportTriesMax; tries += 1) {
    await expect(attempt(jobId)).rejects.toMatchObject({ slug: 'hub-unavailable' })
  }
  await attempt(jobId)
  const failed = await polled(jobId)
  expect(failed).toMatchObject({ status: 'failed', error: { type: expect.stringContaining('hub-unavailable') } })
  expect(failed.error.detail).toContain('cannot be decrypted at the moment. Vault is unavailable')
  expect(failed).not.toHaveProperty('download_url')
  expect(await stored(jobId)).toEqual([])
  expect(await b.events('hub.export_failed')).toMatchObject([{ subject: `export:${jobId}` }])
})
