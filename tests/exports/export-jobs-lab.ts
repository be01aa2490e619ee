import { setTimeout as delay } from 'node:timers/promises'
import { EventBus } from '../../server/event-bus.ts'
import { createMasterKeySecrets } from '../../server/modules/cmek/tenant-secrets.ts'
import type { ExportQuota } from '../../server/modules/exports/export-quota.ts'
import { createExportsModule } from '../../server/modules/exports/exports-module.ts'
import type { ExportRequest, ExportWriter } from '../../server/modules/exports/exports-types.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import type { TimeSource } from '../../server/records/record-clock.ts'
import { type Answer, startHub, type TestHub, type TestHubOptions, type TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

export const exportsPath = '/api/v1/hub/exports'
export const orderPath = '/api/v1/hub/records:export'

type WriteOptions = Parameters<ExportWriter['write']>[2]

/** A write that goes on until it is told how to end. */
export interface HeldWrite {
  order: ExportRequest
  options: WriteOptions
  /** Ends it with these bytes. */
  finish(content?: string): void
  fail(error: unknown): void
}

export interface ExportJobsLab {
  hub: TestHub
  /** Sets the time forward. */
  advance(ms: number): void
  /** From now on writes wait, and are found here in their order. */
  hold(): HeldWrite[]
  /** From now on writes end at once, with these bytes. */
  letGo(content?: string): void
  /** Orders an export, and answers what the order was answered with. */
  order(tenant: TestTenant, body?: unknown, options?: { scopes?: Parameters<TestHub['token']>[1] }): Promise<Answer>
  /** Polls until the export is as it should be. */
  until(tenant: TestTenant, jobId: string, status: string): Promise<Answer['body']>
  /** Orders an export and waits for its end. */
  completed(tenant: TestTenant, body?: unknown): Promise<Answer['body']>
  /** Runs the chores of exports as the hourly job does. */
  runChores(tenant: TestTenant): Promise<void>
  /** What the storage has of an export. */
  files(jobId: string): Promise<string[]>
  /** Governance events of exports of a tenant, the oldest first. */
  events(tenant: TestTenant, kind: string): Promise<Answer['body'][]>
}

/** The service with a writer of exports that does as it is told. */
export async function startExportJobsLab(
  options: TestHubOptions & { quota?: ExportQuota } = {},
): Promise<ExportJobsLab> {
  let content: string | undefined = 'some rows\n'
  let held: HeldWrite[] = []
  let offsetMs = 0
  const time: TimeSource = { wallMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() }

  const hub = await startHub({
    time,
    ...options,
    adapt: (modules, parts) => {
      const { storage } = modules
      const writer: ExportWriter = {
        fileNames: ({ jobId, format, compression }) => {
          const file = `${jobId}.${format}${compression === 'gzip' ? '.gz' : ''}`
          return { file, manifest: `${file}.manifest.json` }
        },
        keyOf: (tenant, jobId, fileName) => `exports/${tenant}/${jobId}/${fileName}`,
        async write(tenant, order, writing) {
          const text = content ?? (await holdUp(order, writing))
          writing.signal.throwIfAborted()
          const { file, manifest } = writer.fileNames(order)
          await storage.write(writer.keyOf(tenant.slug, order.jobId, file), Buffer.from(text))
          await storage.write(writer.keyOf(tenant.slug, order.jobId, manifest!), Buffer.from('{"manifest_version":1}'))
          const verificationSummary = order.verify ? { checked: 1, verified: 1, tampered: 0, cosign_invalid: 0 } : null
          return { rows: 1, sizeBytes: text.length, verificationSummary }
        },
      }
      modules.exports = createExportsModule({
        ...modules,
        ...parts,
        cursorKey: Buffer.alloc(32, 7),
        secrets: createMasterKeySecrets(parts.masterKey),
        ownQuota: modules.tenants.exportQuota,
        quota: options.quota ?? { exportsPerDay: 1000, bytesKept: 10_000_000_000 },
        clock: modules.recordStore.clock,
        governance: createGovernanceLog({ ...modules.recordStore.records, events: new EventBus() }),
        keys: modules.keys.provenance,
        logs: modules.log.logs,
        records: modules.recordStore.sealedRecords,
        verification: modules.verification.stored,
        search: modules.hub.searchMatches,
        evidence: { ...modules.hub, checkpoints: modules.checkpoints, retention: modules.verification.retention },
        directory: modules.tenants.directory,
        events: new EventBus(),
        writer,
      })
    },
  })

  function holdUp(order: ExportRequest, writing: WriteOptions): Promise<string> {
    return new Promise((resolve, reject) => {
      held.push({ order, options: writing, finish: (text = 'held rows\n') => resolve(text), fail: reject })
      writing.signal.addEventListener('abort', () => reject(writing.signal.reason))
    })
  }

  const order: ExportJobsLab['order'] = (tenant, body, { scopes } = {}) =>
    hub.call(tenant, 'POST', orderPath, { body: body ?? {}, ...(scopes && { scopes }) })

  const until: ExportJobsLab['until'] = async (tenant, jobId, status) => {
    const deadline = Date.now() + scaled(30_000)
    for (;;) {
      const { body } = await hub.call(tenant, 'GET', `${exportsPath}/${jobId}`)
      if (body.status === status) return body
      if (Date.now() > deadline) throw new Error(`still not ${status}: ${JSON.stringify(body)}`)
      await delay(20)
    }
  }

  return {
    hub,
    order,
    until,
    advance: (ms) => {
      offsetMs += ms
    },
    hold: () => {
      content = undefined
      held = []
      return held
    },
    letGo: (text = 'some rows\n') => {
      content = text
    },
    completed: async (tenant, body) => until(tenant, (await order(tenant, body)).body.job_id, 'completed'),
    runChores: async (tenant) => {
      for (const chore of hub.modules.exports.chores) {
        while (await hub.test.database.withTenant(tenant, (tx) => chore.run(tx)));
      }
    },
    files: async (jobId) =>
      (await Array.fromAsync(hub.modules.storage.list('exports/'))).filter((key) => key.includes(jobId)),
    events: async (tenant, kind) => {
      const { body } = await hub.call(tenant, 'GET', `/api/v1/hub/records?event_kind=${kind}&limit=1000`)
      return body.records
    },
  }
}
