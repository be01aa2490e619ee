import { DomainError } from '../../../contract/domain-error.ts'
import type { Config } from '../../config.ts'
import type { TenantTx } from '../../db/database.ts'
import type { OwnExportQuota } from '../tenants/tenants-types.ts'
import { type Attempt, reserveBytes } from './export-attempt-store.ts'
import { timeAt } from './export-response.ts'
import { exportUse, lockOrders } from './exports-store.ts'

const mebibyte = 1024 * 1024

/** Limits of a tenant's exports. */
export interface ExportQuota {
  exportsPerDay: number
  /** Maximum bytes of downloadable files. */
  bytesKept: number
}

/** The reason for refusing an export. */
export type ExportRejection = 'exports_per_day' | 'bytes_kept' | 'disk_full'

export type ExportSettings = Pick<Config, 'exportsPerDay' | 'exportMbKept'>

export function exportQuotaOf({ exportsPerDay, exportMbKept }: ExportSettings): ExportQuota {
  return { exportsPerDay, bytesKept: exportMbKept * mebibyte }
}

/**
 * Bytes that a file reserves ahead: a large file needs few transactions, and under a small quota other files lose
 * little.
 */
const aheadBytesMax = 8 * mebibyte
const aheadShare = 1 / 64
const dayMicros = 86_400_000_000

/** Prevents one tenant from filling the disk of all. */
export class ExportQuotas {
  readonly #standard: ExportQuota
  readonly #ownQuota: (tx: TenantTx) => Promise<OwnExportQuota>
  readonly #onRefusal: (reason: ExportRejection) => void

  /**
   * @param standard the quotas of a tenant without its own
   * @param ownQuota reads the quotas that the operator set for the tenant
   * @param onRefusal called for each refused export
   */
  constructor(
    standard: ExportQuota,
    ownQuota: (tx: TenantTx) => Promise<OwnExportQuota>,
    onRefusal: (reason: ExportRejection) => void,
  ) {
    this.#standard = standard
    this.#ownQuota = ownQuota
    this.#onRefusal = onRefusal
  }

  /** Throws `rate-limited` for a tenant that has reached a limit of its requests or bytes. */
  async requireRoom(tx: TenantTx, nowMicros: number): Promise<void> {
    const quota = await this.#quotaOf(tx)
    const { ordered, firstOrderedAt, keptBytes, firstExpiresAt } = await useAt(tx, nowMicros)
    if (ordered >= quota.exportsPerDay) {
      this.#onRefusal('exports_per_day')
      throw refused(
        `The tenant has requested ${ordered} exports within 24 hours; its limit is ${quota.exportsPerDay}. Wait, or ask the operator for more.`,
        firstOrderedAt === null ? 0 : Date.parse(firstOrderedAt) * 1000 + dayMicros - nowMicros,
      )
    }
    if (keptBytes >= quota.bytesKept) {
      this.#onRefusal('bytes_kept')
      throw refused(
        `The exports of the tenant have ${keptBytes} bytes; the limit is ${quota.bytesKept}. Wait until one expires, or ask the operator for more.`,
        firstExpiresAt === null ? 0 : Date.parse(firstExpiresAt) * 1000 - nowMicros,
      )
    }
  }

  /** Returns the bytes of the tenant's stored files, including reservations. */
  async bytesKept(tx: TenantTx, nowMicros: number): Promise<number> {
    return (await useAt(tx, nowMicros)).keptBytes
  }

  /**
   * Reserves room for a file of at least this many bytes, so that concurrent exports count for each other. Returns the
   * bytes that the file may have until it reserves again; undefined if the attempt no longer counts.
   *
   * @throws DomainError `rate-limited` without room for them
   */
  async reserve(tx: TenantTx, attempt: Attempt, bytes: number, nowMicros: number): Promise<number | undefined> {
    await lockOrders(tx)
    const { bytesKept } = await this.#quotaOf(tx)
    const { keptBytes } = await useAt(tx, nowMicros, attempt.jobId)
    const left = Math.max(bytesKept - keptBytes, 0)
    if (bytes > left) {
      this.#onRefusal('bytes_kept')
      throw refused(
        `The file would exceed the ${left} remaining bytes of the ${bytesKept} that exports of the tenant can use. Export fewer records, or ask the operator for more.`,
        0,
      )
    }
    const ahead = Math.min(aheadBytesMax, Math.floor(bytesKept * aheadShare))
    const reserved = Math.min(bytes + ahead, left)
    return (await reserveBytes(tx, attempt, reserved)) ? reserved : undefined
  }

  async #quotaOf(tx: TenantTx): Promise<ExportQuota> {
    const { exports_per_day: perDay, mb_kept: mbKept } = await this.#ownQuota(tx)
    return {
      exportsPerDay: perDay ?? this.#standard.exportsPerDay,
      bytesKept: mbKept === undefined ? this.#standard.bytesKept : mbKept * mebibyte,
    }
  }
}

/** Reads the use of the quota. A stored export was requested at most two days ago. */
function useAt(tx: TenantTx, nowMicros: number, besides?: string) {
  const since = { dayAgo: timeAt(nowMicros - dayMicros), keptSince: timeAt(nowMicros - 3 * dayMicros) }
  return exportUse(tx, since, besides)
}

function refused(detail: string, waitMicros: number): DomainError {
  return new DomainError('rate-limited', detail, { retryAfterSeconds: Math.max(Math.ceil(waitMicros / 1_000_000), 60) })
}
