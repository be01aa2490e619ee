import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { JobSender } from '../../jobs/job-sender.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { Storage } from '../../storage/storage.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { DenialRecorder } from '../governance/governance-types.ts'
import type { SealedRecords } from '../sealing/sealed-records-types.ts'
import type { SearchMatches } from '../search/search-types.ts'
import type { OwnExportQuota } from '../tenants/tenants-types.ts'
import type { StoredVerification } from '../verification/verification-types.ts'
import { addDownloadRoutes } from './download-routes.ts'
import { createDownloads } from './download-service.ts'
import { createDownloadUrls } from './download-url.ts'
import { createPackWriter, type EvidenceSources } from './evidence/pack-writer.ts'
import { ExportCleanup } from './export-cleanup.ts'
import { createExportEncryption } from './export-encryption.ts'
import { ExportFigures } from './export-figures.ts'
import { ExportFileStore } from './export-file-store.ts'
import { type ExportQuota, ExportQuotas } from './export-quota.ts'
import { ExportWorker, exportJobData, exportJobName } from './export-worker.ts'
import { addExportsRoutes } from './exports-routes.ts'
import { Exports } from './exports-service.ts'
import type { ExportWriter } from './exports-types.ts'
import { createExportWriter } from './files/export-writer.ts'

export function createExportsModule(
  deps: Pick<
    ModuleParts,
    'database' | 'masterKey' | 'clock' | 'cursorKey' | 'keys' | 'logs' | 'governance' | 'directory' | 'events' | 'log'
  > & {
    storage: Storage
    disk: Pick<DiskSpace, 'requireRoom'>
    /** The quotas of a tenant without its own. */
    quota: ExportQuota
    ownQuota(tx: TenantTx): Promise<OwnExportQuota>
    /** Encrypts the keys of files. */
    secrets: TenantSecrets
    records: SealedRecords
    verification: StoredVerification
    denials: Pick<DenialRecorder, 'note'>
    search: SearchMatches
    jobSender: Pick<JobSender, 'send'>
    evidence: EvidenceSources
    /** Replaces the writer in tests. */
    writer?: ExportWriter
  },
) {
  const encryption = createExportEncryption(deps)
  const {
    writer = createExportWriter({ ...deps, encryption }, { packs: createPackWriter({ ...deps, ...deps.evidence }) }),
  } = deps
  const urls = createDownloadUrls(deps.masterKey)
  const files = new ExportFileStore({ ...deps, writer })
  const figures: ExportFigures = new ExportFigures({ ...deps, bytesKept: (tx, now) => quotas.bytesKept(tx, now) })
  const quotas = new ExportQuotas(deps.quota, deps.ownQuota, (reason) => figures.refuse(reason))
  const runs = new ExportWorker({ ...deps, quotas, writer, files })
  const exports = new Exports({
    ...deps,
    urls,
    writer,
    files,
    quotas,
    disk: figures.counted(deps.disk),
    begin: (tx, jobId) =>
      deps.jobSender.send(exportJobName, exportJobData(tx.tenantId, jobId), { tx, group: tx.tenantId }),
    stopAttempt: (jobId) => runs.stopAttempt(jobId),
  })
  const downloads = createDownloads({ ...deps, encryption, writer, urls })
  const cleanup = new ExportCleanup({ ...deps, files })
  deps.events.onInTransaction('recordsErased', (tx, { records }) => cleanup.eraseRecordCopies(tx, records))
  return {
    /** Ends exports of erased records, and all of a tenant together with its key. */
    expiry: cleanup,
    chores: cleanup.chores,
    routes: (app: FastifyInstance) => {
      addExportsRoutes(app, exports)
      addDownloadRoutes(app, downloads)
    },
    jobs: [runs.job],
    figures: (asked: { bytes: boolean }) => figures.read(asked),
    /** Stops writing. The next worker, or the next start, begins unfinished exports again. */
    stop: () => runs.stop(),
    /** Resolves when no deletion of files is running. Call it before the database closes. */
    settled: () => files.settled(),
  }
}
