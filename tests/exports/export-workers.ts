import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { startHub } from '../support/hub.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'

const exportsPath = '/api/v1/hub/exports'
/** Maximum time in which another process takes up the export of a killed one. */
export const takenUpMsMax = 60_000

export interface PolledExport {
  status: string
  progress: { done: number; total: number }
  download_url: string
  manifest_url: string
  verification_summary: { checked: number; verified: number }
}

export interface ExportWorker {
  process: HubProcess
  client: HubClient
}

export type ExportWorkers = Awaited<ReturnType<typeof openExportWorkers>>

/** Runs processes of one service, which write exports of acme's telemetry, and can be killed. */
export async function openExportWorkers(batches: number) {
  const hub = await startHub()
  const storage = await mkdtemp(join(tmpdir(), 'hub-exports-'))
  await prepareTelemetry(hub, 'acme')
  const events = Array.from({ length: 1000 }, () => event())
  for (let batch = 0; batch < batches; batch += 1) {
    const answer = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
    if (answer.body.accepted !== 1000) throw new Error(JSON.stringify(answer.body))
  }
  const account = { name: 'exports', scopes: ['hub:read'] as const }
  const made = await hub.modules.auth.serviceAccounts.create(await hub.tenant('acme'), account, { operator: 'test' })
  const credentials = { tenant: 'acme', clientId: made.client_id, clientSecret: made.client_secret }
  const started: HubProcess[] = []

  return {
    hub,
    storage,
    async start(): Promise<ExportWorker> {
      const process = await startHubProcess(await freshDataDirectory(), {
        HUB_DATABASE_URL: hub.test.url,
        HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
        HUB_STORAGE_URL: `file://${storage}`,
        HUB_LIMIT_FACTOR: '1000',
      })
      started.push(process)
      return { process, client: new HubClient({ baseUrl: process.url, ...credentials }) }
    },
    /** Kills a process with SIGKILL. */
    kill(worker: ExportWorker): void {
      process.kill(-worker.process.pid, 'SIGKILL')
      started.splice(started.indexOf(worker.process), 1)
    },
    async stop(worker: ExportWorker): Promise<void> {
      await worker.process.stop()
      started.splice(started.indexOf(worker.process), 1)
    },
    async stopAll(): Promise<void> {
      for (const each of started.splice(0)) await each.stop()
    },
    /** Returns the number of attempts to write an export. */
    async attemptsOf(jobId: string): Promise<number> {
      const superuser = await hub.superuserClient()
      return (await superuser.query('select attempt from hub.exports where job_id = $1', [jobId])).rows[0].attempt
    },
    /** Polls an export until a condition holds. Throws if the export fails before. */
    async until(
      client: HubClient,
      jobId: string,
      isSo: (polled: PolledExport) => boolean | Promise<boolean>,
      pollMs = 50,
    ): Promise<PolledExport> {
      for (const deadline = Date.now() + scaled(takenUpMsMax + 60_000); Date.now() < deadline; await delay(pollMs)) {
        const polled = await client.get<PolledExport>(`${exportsPath}/${jobId}`)
        if (await isSo(polled)) return polled
        if (['failed', 'cancelled'].includes(polled.status)) throw new Error(JSON.stringify(polled))
      }
      throw new Error(`${jobId} takes too long`)
    },
    async close(): Promise<void> {
      await hub.stop()
      await removeDataDirectories()
      await rm(storage, { recursive: true, force: true })
    },
  }
}
