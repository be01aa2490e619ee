import { exportRunHoursMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import { failExport } from './export-attempt-store.ts'
import type { ExportFileStore } from './export-file-store.ts'
import { timeAt } from './export-response.ts'
import { endedWithFiles, endThoseOf, expireOverdue, markFilesGone, openSince, orderOf } from './exports-store.ts'

const filesAtOnce = 20
const hourMicros = 3_600_000_000
/** Maximum difference between the clocks of processes, in microseconds. */
const clockSkewMicros = 60_000_000

const overdue = {
  slug: 'internal',
  detail: `The export had not ended after ${exportRunHoursMax} hours. Request it again, with fewer records if it is large.`,
}

const erased = 'A record that the export could contain was erased. Request the export again.'

interface Life {
  createdAt: string
  purgedAt: string
}

/** Ends exports, and deletes the files of ended ones. */
export class ExportCleanup {
  readonly #clock: RecordClock
  readonly #files: ExportFileStore

  constructor({ clock, files }: { clock: RecordClock; files: ExportFileStore }) {
    this.#clock = clock
    this.#files = files
  }

  get chores(): TenantChore[] {
    return [{ name: 'delete files of exports', run: (tx) => this.#endOverdue(tx) }]
  }

  /** Ends the exports that may contain an erased record, because they were made during its life. */
  async eraseRecordCopies(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
    for (const life of together(records.map(lifeOf))) await this.expireHolding(tx, life)
  }

  /** Ends every export of a tenant whose key is destroyed. */
  async forget(tx: TenantTx, at: string): Promise<void> {
    const detail = 'The key of the tenant was destroyed, and its content with it.'
    await this.expireHolding(tx, { createdAt: beforeAll, purgedAt: at }, detail)
  }

  /**
   * Ends exports that may contain a record that lived from `createdAt` to `purgedAt`; their files are deleted after the
   * commit.
   *
   * @param detail a sentence for the export and its download addresses
   */
  async expireHolding(tx: TenantTx, { createdAt, purgedAt }: Life, detail = erased): Promise<void> {
    const { createdAt: now } = this.#clock.next()
    const life = { createdAt: shifted(createdAt, -clockSkewMicros), purgedAt: shifted(purgedAt, clockSkewMicros) }
    for (const row of await endThoseOf(tx, life, now, { slug: 'concurrent-modification', detail })) {
      tx.afterCommit(() => this.#files.removeSoon(tx.tenantId, orderOf(row)))
    }
  }

  async #endOverdue(tx: TenantTx): Promise<boolean> {
    const { micros, createdAt: now } = this.#clock.next()
    await expireOverdue(tx, now)
    for (const row of await openSince(tx, timeAt(micros - exportRunHoursMax * hourMicros))) {
      await failExport(tx, { jobId: row.job_id, attempt: row.attempt }, overdue)
    }
    const ended = await endedWithFiles(tx, filesAtOnce)
    for (const row of ended) await this.#files.remove(tx.tenantId, orderOf(row))
    const jobIds = ended.map((row) => row.job_id)
    if (jobIds.length > 0) await markFilesGone(tx, jobIds)
    return ended.length === filesAtOnce
  }
}

const beforeAll = '0001-01-01T00:00:00.000000Z'
const firstMicros = Date.parse('0001-01-01T00:00:00Z') * 1000
const lastMicros = Date.parse('9999-12-31T23:59:59Z') * 1000

function shifted(timestamp: string, micros: number): string {
  return timeAt(Math.min(Math.max(Date.parse(timestamp) * 1000 + micros, firstMicros), lastMicros))
}

function lifeOf({ created_at, purged_at }: ErasedRecord): Life {
  return { createdAt: created_at ?? beforeAll, purgedAt: purged_at }
}

/** Merges overlapping periods: records that are erased together mostly lived at the same time. */
function together(lives: readonly Life[]): Life[] {
  const merged: Life[] = []
  for (const life of [...lives].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))) {
    const last = merged.at(-1)
    if (last === undefined || life.createdAt > last.purgedAt) merged.push({ ...life })
    else if (life.purgedAt > last.purgedAt) last.purgedAt = life.purgedAt
  }
  return merged
}
