import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import type { HubClient } from '../../sdk/typescript/src/index.ts'
import { type ExportWorkers, openExportWorkers, type PolledExport, takenUpMsMax } from '../exports/export-workers.ts'
import { scaled } from '../support/machine-speed.ts'

const batches = 60

let workers: ExportWorkers

beforeAll(async () => {
  workers = await openExportWorkers(batches)
})
afterEach(() => workers.stopAll())
afterAll(() => workers.close())

const order = async (client: HubClient) => {
  const filter = { record_type: ['telemetry_event'] }
  const body = { filter, verify: true, include_provenance: true }
  return (await client.post<{ job_id: string }>('/api/v1/hub/records:export', { body })).job_id
}

const ordersMax = 20

/** Orders exports until one is met in its first half. A fast machine ends some of them between two polls. */
async function orderUnderWay(client: HubClient): Promise<string> {
  for (let orders = 0; orders < ordersMax; orders += 1) {
    const jobId = await order(client)
    const isBegun = ({ status, progress }: PolledExport) =>
      status === 'completed' || (status === 'running' && progress.total > 0)
    const { status, progress } = await workers.until(client, jobId, isBegun, 5)
    if (status === 'running' && progress.done < progress.total / 2) return jobId
  }
  throw new Error(`none of ${ordersMax} exports was met in its first half`)
}

/** The export is whole, and nothing else is left of it. */
async function expectWhole(jobId: string, { download_url, manifest_url, verification_summary }: PolledExport) {
  const directory = await mkdtemp(join(workers.storage, 'fetched-'))
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
  expect((await readdir(join(workers.storage, 'exports/acme', jobId))).sort()).toEqual([
    `${jobId}.jsonl`,
    `${jobId}.jsonl.manifest.json`,
  ])
  await rm(directory, { recursive: true })
}

test('an export whose process is killed is taken up within a minute, and is whole', async () => {
  const first = await workers.start()
  const jobId = await orderUnderWay(first.client)
  workers.kill(first)

  const second = await workers.start()
  await expect.poll(() => workers.attemptsOf(jobId), { timeout: scaled(takenUpMsMax), interval: 250 }).toBe(2)
  await expectWhole(jobId, await workers.until(second.client, jobId, ({ status }) => status === 'completed'))
})

test('an export of a worker that is told to stop waits for the next one, and loses no try', async () => {
  const first = await workers.start()
  const jobId = await orderUnderWay(first.client)
  await workers.stop(first)
  // It was not waited for: it is not done.
  const superuser = await workers.hub.superuserClient()
  const { rows } = await superuser.query('select status, tries from hub.exports where job_id = $1', [jobId])
  expect(rows).toEqual([{ status: 'queued', tries: 0 }])

  const second = await workers.start()
  await expectWhole(jobId, await workers.until(second.client, jobId, ({ status }) => status === 'completed'))
})

test('an export outlasts the loss of every connection to the database', async () => {
  const { client } = await workers.start()
  const jobId = await orderUnderWay(client)
  const superuser = await workers.hub.superuserClient()
  await superuser.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await expectWhole(jobId, await workers.until(client, jobId, ({ status }) => status === 'completed'))
})
