import { exportRunHoursMax, exportsAtOnce } from '../../../contract/limits.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { ExportWorker } from './export-worker.ts'

export const exportJobName = 'export'

/** A number that no export reaches in its time: the export's own count of tries decides, not the queue's. */
const retryLimit = 1000

export function exportJobData(tenantId: string, jobId: string): object {
  return { tenant: tenantId, job_id: jobId }
}

/** Defines the job that writes an export; an interrupted attempt is retried. */
export function exportJob(runs: ExportWorker): JobDefinition {
  return {
    name: exportJobName,
    retryLimit,
    retryDelaySeconds: 1,
    pollingIntervalSeconds: 1,
    sideBySide: { all: exportsAtOnce.all, ofGroup: exportsAtOnce.ofTenant },
    secondsMax: exportRunHoursMax * 3600 - 60,
    handler: async ({ data, signal }) => {
      const { tenant, job_id: jobId } = data as { tenant: string; job_id: string }
      await runs.run(tenant, jobId, signal)
    },
  }
}
