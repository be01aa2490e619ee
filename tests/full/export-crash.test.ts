import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'

const batches = 60
const exports = '/api/v1/hub/exports'
const takenUpMsMax = 60_000

interface Polled {
  status: string
  progress: { done: number; total: number }
  download_url: string
  manifest_url: string
  verification_summary: { checked: number; verified: number }
}

let hub: TestHub
let storage: string
let credentials: { tenant: string; clientId: string; clientSecret: string }
const started: HubProcess[] = []

beforeAll(async () => {
  hub = await startHub()
  storage = await mkdtemp(join(tmpdir(), 'hub-exports-'))
  await prepareTelemetry(hub, 'acme')
  const events = Array.from({ length: 1000 }, () => event())
  for (let batch = 0; batch < batches; batch += 1) {
    const answer = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
    expect(answer.body.accepted).toBe(1000)
  }
  const account = { name: 'exports', scopes: ['hub:read'] as const }
  const made = await hub.modules.auth.serviceAccounts.create(await hub.tenant('acme'), account, { operator: 'test' })
  credentials = { tenant: 'acme', clientId: made.client_id, clientSecret: made.client_secret }
})
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop()
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
  await rm(storage, { recursive: true, force: true })
})

/** Another process of the same service. */
async function startWorker(): Promise<{ process: HubProcess; client: HubClient }> {
  const process = await startHubProcess(await freshDataDirectory(), {
    HUB_DATABASE_URL: hub.test.url,
    HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
    HUB_STORAGE_URL: `file://${storage}`,
    HUB_LIMIT_FACTOR: '1000',
  })
  started.push(process)
  return { process, client: new HubClient({ baseUrl: process.url, ...credentials }) }
}

const order = async (client: HubClient) => {
  const filter = { record_type: ['telemetry_event'] }
  const body = { filter, verify: true, include_provenance: true }
  return (await client.post<{ job_id: string }>('/api/v1/hub/records:export', { body })).job_id
}
const poll = (client: HubClient, jobId: string) => client.get<Polled>(`${exports}/${jobId}`)

async function until(
  client: HubClient,
  jobId: string,
  isSo: (polled: Polled) => boolean,
  pollMs = 50,
): Promise<Polled> {
  for (const deadline = Date.now() + scaled(takenUpMsMax + 60_000); Date.now() < deadline; await delay(pollMs)) {
    const polled = await poll(client, jobId)
    if (isSo(polled)) return polled
    if (['failed', 'cancelled'].includes(polled.status)) throw new Error(JSON.stringify(polled))
  }
  throw new Error(`${jobId} takes too long`)
}

const ordersMax = 20

/** Orders exports until one is met in its first half. A fast machine ends some of them between two polls. */
async function orderUnderWay(client: HubClient): Promise<string> {
  for (let orders = 0; orders < ordersMax; orders += 1) {
    const jobId = await order(client)
    const isBegun = ({ status, progress }: Polled) =>
      status === 'completed' || (status === 'running' && progress.total > 0)
    const { status, progress } = await until(client, jobId, isBegun, 5)
    if (status === 'running' && progress.done < progress.total / 2) return jobId
  }
  throw new Error(`none of ${ordersMax} exports was met in its first half`)
}

/** The export is whole, and nothing else is left of it. */
async function expectWhole(jobId: string, { download_url, manifest_url, verification_summary }: Polled) {
  const directory = await mkdtemp(join(storage, 'fetched-'))
  const path = join(directory, `${jobId}.jsonl`)
  for (const [url, to] of [
    [download_url, path],
    [manifest_url, `${path}.manifest.json`],
  ] as const) {
    await writeFile(to, Buffer.from(await (await fetch(url)).arrayBuffer()))
  }
  const { report } = await verifyFile(path, {})
  expect([report.verified, report.checked, report.failures]).toEqual([true, batches * 1000, []])
  expect(verification_summary).toMatchObject({ checked: batches * 1000, verified: batches * 1000 })
  expect((await readdir(join(storage, 'exports/acme', jobId))).sort()).toEqual([
    `${jobId}.jsonl`,
    `${jobId}.jsonl.manifest.json`,
  ])
  await rm(directory, { recursive: true })
}

test('an export whose process is killed is taken up within a minute, and is whole', async () => {
  const first = await startWorker()
  const jobId = await orderUnderWay(first.client)
  process.kill(-first.process.pid, 'SIGKILL')
  started.length = 0

  const second = await startWorker()
  const superuser = await hub.superuserClient()
  const attemptsOf = async () =>
    (await superuser.query('select attempt from hub.exports where job_id = $1', [jobId])).rows[0].attempt
  await expect.poll(attemptsOf, { timeout: scaled(takenUpMsMax), interval: 250 }).toBe(2)
  await expectWhole(jobId, await until(second.client, jobId, ({ status }) => status === 'completed'))
})

test('an export of a worker that is told to stop waits for the next one, and loses no try', async () => {
  const first = await startWorker()
  const jobId = await orderUnderWay(first.client)
  await first.process.stop()
  started.length = 0
  // It was not waited for: it is not done.
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query('select status, tries from hub.exports where job_id = $1', [jobId])
  expect(rows).toEqual([{ status: 'queued', tries: 0 }])

  const second = await startWorker()
  await expectWhole(jobId, await until(second.client, jobId, ({ status }) => status === 'completed'))
})

test('an export outlasts the loss of every connection to the database', async () => {
  const { client } = await startWorker()
  const jobId = await orderUnderWay(client)
  const superuser = await hub.superuserClient()
  await superuser.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await expectWhole(jobId, await until(client, jobId, ({ status }) => status === 'completed'))
})
