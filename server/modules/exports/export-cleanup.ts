import { exportRunHoursMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { failExport } from './export-attempt-store.ts'
import type { ExportFileStore } from './export-file-store.ts'
import { timeAt } from './export-response.ts'
import { endedWithFiles, endThoseOf, expireOverdue, markFilesGone, openSince, orderOf } from './exports-store.ts'
import type { ExportExpiry } from './exports-types.ts'

const filesAtOnce = 20
const hourMicros = 3_600_000_000
/** Maximum difference between the clocks of processes, in microseconds. */
const clockSkewMicros = 60_000_000

const overdue = {
  slug: 'internal',
  detail: `The export had not ended after ${exportRunHoursMax} hours. Request it again, with fewer records if it is large.`,
}

const erased = 'A record that the export could contain was erased. Request the export again.'

/** Expires exports, and deletes the files of ended ones. */
export function createExportCleanup(deps: { clock: RecordClock; files: ExportFileStore }): {
  expiry: ExportExpiry
  chores: readonly TenantChore[]
} {
  const { clock, files } = deps

  async function endOverdue(tx: TenantTx): Promise<boolean> {
    const { micros, createdAt: now } = clock.next()
    await expireOverdue(tx, now)
    for (const row of await openSince(tx, timeAt(micros - exportRunHoursMax * hourMicros))) {
      await failExport(tx, { jobId: row.job_id, attempt: row.attempt }, overdue)
    }
    const ended = await endedWithFiles(tx, filesAtOnce)
    for (const row of ended) await files.remove(tx.tenantId, orderOf(row))
    if (ended.length > 0) {
      await markFilesGone(
        tx,
        ended.map((row) => row.job_id),
      )
    }
    return ended.length === filesAtOnce
  }

  return {
    chores: [{ name: 'delete files of exports', run: endOverdue }],
    expiry: {
      async expireHolding(tx, { createdAt, purgedAt }, detail = erased) {
        const { createdAt: now } = clock.next()
        const life = { createdAt: shifted(createdAt, -clockSkewMicros), purgedAt: shifted(purgedAt, clockSkewMicros) }
        for (const row of await endThoseOf(tx, life, now, { slug: 'concurrent-modification', detail })) {
          tx.afterCommit(() => files.removeSoon(tx.tenantId, orderOf(row)))
        }
      },
    },
  }
}

const firstMicros = Date.parse('0001-01-01T00:00:00Z') * 1000
const lastMicros = Date.parse('9999-12-31T23:59:59Z') * 1000

function shifted(timestamp: string, micros: number): string {
  return timeAt(Math.min(Math.max(Date.parse(timestamp) * 1000 + micros, firstMicros), lastMicros))
}
