import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from '../keys/keys-types.ts'
import type { HoldEvents } from '../legal-holds/holds-types.ts'
import type { KeptCheckpoints, TenantLogs } from '../log/log-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import type { SealedRecords } from '../sealing/sealed-records-types.ts'
import type {
  ErasedContentCheck,
  StoredVerification,
  TamperReporter,
  VerifiedEvents,
} from '../verification/verification-types.ts'
import { type AccessCursor, createAccessSweep } from './access-sweep.ts'
import { createHeadCheck } from './head-check.ts'
import { createHoldSweep, firstHoldCursor, type HoldCursor, type HoldsSwept } from './hold-sweep.ts'
import { createPageCheck, type PageChecked, pageRecords } from './page-check.ts'
import { createRecordScan } from './record-scan.ts'
import type { Finding, ScanResult, SweptFigures } from './sweep-types.ts'

export interface SweepDeps {
  database: Database
  logs: TenantLogs
  keys: ProvenanceKeys & ProvenanceKeyAudit
  records: SealedRecords
  verification: StoredVerification
  keptCheckpoints?: KeptCheckpoints | undefined
  tampering: TamperReporter
  verifiedEvents: VerifiedEvents
  erasedContents: ErasedContentCheck
  holdEvents: HoldEvents
  retention: RetentionPolicy
  figures: SweptFigures
  log: DatabaseLog
}

/** The result of one step, and its cost in records read. */
export interface Stepped extends ScanResult {
  cost: number
}

/** The steps of a scan, each a short piece of work that reports its findings. */
export interface SweepSteps {
  head(tenant: Tenant): Promise<Stepped>
  /** Returns the number of log entries that cost about as much as the given number of records. */
  entriesWorth(records: number): number
  /** Checks some holds, releases and retention rules, and some of their events. */
  holds(tenant: Tenant, cursor: HoldCursor): Promise<Stepped & { cursor: HoldCursor; isRoundOver: boolean }>
  /** Checks some rows that grant access, and some events about them. */
  access(tenant: Tenant, cursor: AccessCursor): Promise<Stepped & { cursor: AccessCursor; isRoundOver: boolean }>
  /** Checks entries of the log from an index on; `next` is where to continue, undefined at the end. */
  page(tenant: Tenant, from: number): Promise<Stepped & { next: number | undefined }>
  /** Creates the comparison of aggregates with the records. Its first step compares the price list with its event. */
  figures(tenant: Tenant, range: 'newest' | 'all'): () => Promise<Stepped & { isOver: boolean }>
  /** Searches records in id order. */
  scan(tenant: Tenant, afterId: string): Promise<Stepped & { next: string | undefined }>
}

/** Maximum entries for {@link SealedRecords.ofEntries}. */
const pageEntriesMax = 500
const pageEntriesMin = 16
const scanRecords = 5_000
/** Cost of an entry without its records, in records: a signature and a tree. */
const entryCost = 3
/** Cost per scanned record: two columns are read, and nothing is verified. */
const scanCost = 0.1

/** Cost of a row and a cached event. */
const holdCost = 0.2

/** Maximum consecutive unreadable entries. Beyond it, the cause is not single entries, and the scan fails. */
const unreadableMax = 100

export function createSweepSteps(deps: SweepDeps): SweepSteps {
  const { tampering, log } = deps
  const checkHead = createHeadCheck({ keptCheckpoints: undefined, ...deps })
  const sweepHolds = createHoldSweep(deps)
  const sweepAccess = createAccessSweep(deps)
  const checkPage = createPageCheck(deps)
  const scanRecordsOf = createRecordScan(deps)
  /** Records per entry in the last page. */
  let density = 1
  /** Consecutive unreadable entries. */
  let unreadable = 0

  function report(tenant: Tenant, findings: readonly Finding[]): number {
    tampering.report(
      tenant,
      findings.map((finding) => ({ ...finding, service: 'sweeper' })),
    )
    return findings.length
  }

  async function checkReadableHead(tenant: Tenant): Promise<Finding[]> {
    try {
      return await checkHead(tenant)
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      log.error({ err: error, tenant: tenant.slug }, 'the head of a log cannot be read')
      return [{ subject: `log:${tenant.logName}`, failedChecks: ['readable'], found: {} }]
    }
  }

  async function checkPrices(tenant: Tenant): Promise<Finding[]> {
    const { prices } = deps.figures
    const { isProven, eventId = null } = await deps.database.withTenant(tenant.slug, prices, { readOnly: true })
    return isProven
      ? []
      : [{ subject: `prices:${tenant.slug}`, failedChecks: ['prices_proven'], found: { event: eventId } }]
  }

  /** Checks holds. Unreadable data ends the round with a finding. */
  async function sweepReadableHolds(tenant: Tenant, cursor: HoldCursor): Promise<HoldsSwept> {
    try {
      return await sweepHolds(tenant, cursor)
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      log.error({ err: error, tenant: tenant.slug }, 'legal holds or retention rules cannot be read')
      const findings: Finding[] = [{ subject: `tenant:${tenant.slug}`, failedChecks: ['readable'], found: {} }]
      return { rows: 1, findings, cursor: firstHoldCursor, isRoundOver: true }
    }
  }

  /**
   * Checks a page. Halves an unreadable page, down to the one entry whose rows contain invalid values. That is
   * tampering, too, and must not keep the sweeper from the rest.
   */
  async function checkReadable(tenant: Tenant, from: number, limit: number): Promise<PageChecked> {
    try {
      const page = await checkPage(tenant, from, limit)
      unreadable = 0
      return page
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      if (limit > 1) return checkReadable(tenant, from, Math.floor(limit / 2))
      unreadable += 1
      if (unreadable > unreadableMax) throw error
      log.error(
        { err: error, tenant: tenant.slug, log_index: from },
        'the stored contents of a log entry cannot be read',
      )
      const finding: Finding = {
        subject: `log:${tenant.logName}`,
        failedChecks: ['readable'],
        found: { log_index: from },
      }
      return { places: 1, checked: 0, failed: 0, findings: [finding] }
    }
  }

  return {
    entriesWorth: (count) => Math.ceil(count / (density + entryCost)),
    async head(tenant) {
      return { checked: 0, failed: 0, inconsistent: report(tenant, await checkReadableHead(tenant)), cost: 1 }
    },
    async holds(tenant, from) {
      const { rows, findings, cursor, isRoundOver } = await sweepReadableHolds(tenant, from)
      const inconsistent = report(tenant, findings)
      return { checked: 0, failed: 0, inconsistent, cost: rows * holdCost + 1, cursor, isRoundOver }
    },
    async access(tenant, from) {
      const { rows, findings, cursor, isRoundOver } = await sweepAccess(tenant, from)
      const inconsistent = report(tenant, findings)
      return { checked: 0, failed: 0, inconsistent, cost: rows * holdCost + 1, cursor, isRoundOver }
    },
    async page(tenant, from) {
      const limit = Math.min(pageEntriesMax, Math.max(pageEntriesMin, Math.floor(pageRecords / density)))
      const { places, checked, failed, findings } = await checkReadable(tenant, from, limit)
      if (places > 0) density = Math.max(1, checked / places)
      return {
        checked,
        failed,
        inconsistent: report(tenant, findings),
        cost: checked + Math.min(places, pageEntriesMax) * entryCost + 1,
        next: places === 0 ? undefined : from + places,
      }
    },
    figures(tenant, range) {
      const audit = deps.figures.audit(tenant, range)
      let isBegun = false
      return async () => {
        const prices = isBegun ? [] : await checkPrices(tenant)
        isBegun = true
        const { findings, cost, isOver } = await audit.step()
        return { checked: 0, failed: 0, inconsistent: report(tenant, [...prices, ...findings]), cost, isOver }
      }
    },
    async scan(tenant, afterId) {
      const { lastId, records, findings } = await scanRecordsOf(tenant, afterId, scanRecords)
      const inconsistent = report(tenant, findings)
      return { checked: 0, failed: 0, inconsistent, cost: records * scanCost + 1, next: lastId }
    },
  }
}
