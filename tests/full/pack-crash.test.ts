import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { evidenceFiles } from '../../provenance/evidence-pack.ts'
import type { HubClient } from '../../sdk/typescript/src/index.ts'
import { type ExportWorkers, openExportWorkers, type PolledExport, takenUpMsMax } from '../exports/export-workers.ts'
import { filesIn, packsPath, rowsIn } from '../exports/packs-lab.ts'
import { scaled } from '../support/machine-speed.ts'

const batches = 40
const ordersMax = 20

let workers: ExportWorkers
let from: string

beforeAll(async () => {
  from = new Date().toISOString()
  workers = await openExportWorkers(batches)
})
afterEach(() => workers.stopAll())
afterAll(() => workers.close())

const directoryOf = (jobId: string) => join(workers.storage, 'exports/acme', jobId)

/** Orders packs until one is met where `isThere`. A fast machine passes that place between two polls. */
async function packMet(client: HubClient, isThere: (polled: PolledExport, files: string[]) => boolean) {
  for (let orders = 0; orders < ordersMax; orders += 1) {
    const body = { from, to: new Date().toISOString(), include_content: true }
    const { job_id: jobId } = await client.post<{ job_id: string }>(packsPath, { body })
    let isMet = false
    await workers.until(
      client,
      jobId,
      async (polled) => {
        const files = await readdir(directoryOf(jobId)).catch(() => [])
        isMet = polled.status === 'running' && isThere(polled, files)
        return isMet || polled.status === 'completed'
      },
      5,
    )
    if (isMet) return jobId
  }
  throw new Error(`none of ${ordersMax} packs was met in time`)
}

/** The pack verifies, has each file and each record once, and nothing else is left of it. */
async function expectWhole(jobId: string, { download_url }: PolledExport) {
  expect(await readdir(directoryOf(jobId))).toEqual([`${jobId}.tar.gz`])
  const directory = await mkdtemp(join(workers.storage, 'fetched-'))
  const path = join(directory, `${jobId}.tar.gz`)
  await writeFile(path, Buffer.from(await (await fetch(download_url)).arrayBuffer()))
  const { outcome, report, proof } = await verifyFile(path, {})
  expect([outcome, proof.pack?.completeness, report.failures]).toEqual(['verified', 'enclosed', []])
  const files = await filesIn(path)
  expect([...files.keys()]).toEqual(['manifest.json', ...evidenceFiles])
  for (const name of ['records.jsonl', 'configuration.jsonl', 'sign-ins.jsonl'] as const) {
    const ids = rowsIn(files, name).map(({ record_id }) => record_id)
    expect(new Set(ids).size, name).toBe(ids.length)
  }
  const events = rowsIn(files, 'records.jsonl').filter(({ record_type }) => record_type === 'telemetry_event')
  expect(events.length).toBe(batches * 1000)
  expect(JSON.parse(files.get('usage.json')!.toString()).telemetry.invocations).toBe(batches * 1000)
  expect(report.checked).toBe(rowsIn(files, 'records.jsonl').length)
  await rm(directory, { recursive: true })
}

test.each<[string, (polled: PolledExport, files: string[]) => boolean]>([
  ['its records', ({ progress: { done, total } }) => total > 0 && done < total / 2],
  // The last list; the integrity scan and the archive follow.
  ['its last parts', (_, files) => files.some((name) => name.includes('.parts.people.jsonl'))],
])('a pack whose process is killed while it writes %s is written again, once and whole', async (_, isThere) => {
  const first = await workers.start()
  const jobId = await packMet(first.client, isThere)
  workers.kill(first)
  // Nothing of the unfinished archive can be downloaded, and its parts are there to be doubled.
  expect((await readdir(directoryOf(jobId))).some((name) => name.includes('.parts.'))).toBe(true)

  const second = await workers.start()
  await expect.poll(() => workers.attemptsOf(jobId), { timeout: scaled(takenUpMsMax), interval: 250 }).toBe(2)
  await expectWhole(jobId, await workers.until(second.client, jobId, ({ status }) => status === 'completed'))
  const superuser = await workers.hub.superuserClient()
  const { rows } = await superuser.query('select status, attempt from hub.exports where job_id = $1', [jobId])
  expect(rows).toEqual([{ status: 'completed', attempt: 2 }])
})
