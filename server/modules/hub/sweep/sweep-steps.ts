import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from '../../keys/keys-types.ts'
import type { KeptCheckpoints, TenantLogs } from '../../log/log-types.ts'
import { isCorruptionError } from '../corruption-errors.ts'
import type { SealedRecords } from '../sealed-records-types.ts'
import type { TamperReporter } from '../tamper-reporter.ts'
import type { StoredVerification } from '../verification-types.ts'
import type { VerifiedEvents } from '../verified-events.ts'
import { type AccessCursor, createAccessSweep } from './access-sweep.ts'
import type { Finding } from './finding.ts'
import { createHeadCheck } from './head-check.ts'
import { createHoldSweep, firstHoldCursor, type HoldCursor, type HoldsSwept } from './hold-sweep.ts'
import { createKeyCheck } from './key-check.ts'
import { createPageCheck, type PageChecked, pageRecords } from './page-check.ts'
import { createRecordScan } from './record-scan.ts'
import type { ScanResult, SweptFigures } from './sweep-types.ts'

export interface SweepDeps {
  database: Database
  logs: TenantLogs
  keys: ProvenanceKeys & ProvenanceKeyAudit
  records: SealedRecords
  verification: StoredVerification
  keptCheckpoints?: KeptCheckpoints | undefined
  tampering: TamperReporter
  told: VerifiedEvents
  /** Known once all modules are made. */
  figures: () => SweptFigures
  log: DatabaseLog
}

/** What one step did, and what it cost in records read. */
export interface Stepped extends ScanResult {
  cost: number
}

/** The steps of a pass, each a short piece of work that reports what it finds. */
export interface SweepSteps {
  head(tenant: Tenant): Promise<Stepped>
  /** How many entries of the log cost about as much as so many records. */
  entriesWorth(records: number): number
  /** Some of the holds, releases and retention rules, and of the events that tell of them. */
  holds(tenant: Tenant, cursor: HoldCursor): Promise<Stepped & { cursor: HoldCursor; isRoundOver: boolean }>
  /** Some of the rows that let people in, and of the events that tell what these may do. */
  access(tenant: Tenant, cursor: AccessCursor): Promise<Stepped & { cursor: AccessCursor; isRoundOver: boolean }>
  /** Entries of the log from an index on; `next` is where to go on, undefined at the end. */
  page(tenant: Tenant, from: number): Promise<Stepped & { next: number | undefined }>
  /** Begins to compare aggregates with the records; its first step compares the price list with its event. */
  figures(tenant: Tenant, range: 'newest' | 'all'): () => Promise<Stepped & { isOver: boolean }>
  /** Records by id. */
  scan(tenant: Tenant, afterId: string): Promise<Stepped & { next: string | undefined }>
}

/** What {@link SealedRecords.ofEntries} takes. */
const pageEntriesMax = 500
const pageEntriesMin = 16
const scanRecords = 5_000
/** What an entry costs besides its records, in records: a signature, a tree of its own. */
const entryCost = 3
/** Only two columns are read of each record, and nothing is verified. */
const scanCost = 0.1

/** A row, and an event that is remembered. */
const holdCost = 0.2

/** Then it is not about some entries: the pass ends with the error. */
const unreadableMax = 100

export function createSweepSteps(deps: SweepDeps): SweepSteps {
  const { tampering, log } = deps
  const checkHead = createHeadCheck({ keptCheckpoints: undefined, ...deps })
  const checkKeys = createKeyCheck(deps)
  const sweepHolds = createHoldSweep(deps)
  const sweepAccess = createAccessSweep(deps)
  const checkPage = createPageCheck(deps)
  const scanRecordsOf = createRecordScan(deps)
  /** Records of an entry, of late. */
  let density = 1
  /** Entries in a row. */
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
      return [...(await checkHead(tenant)), ...(await checkKeys(tenant))]
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      log.error({ err: error, tenant: tenant.slug }, 'the head of a log cannot be read')
      return [{ subject: `log:${tenant.logName}`, failedChecks: ['readable'], found: {} }]
    }
  }

  async function checkPrices(tenant: Tenant): Promise<Finding[]> {
    const { prices } = deps.figures()
    const { isProven, eventId = null } = await deps.database.withTenant(tenant.slug, prices, { readOnly: true })
    return isProven
      ? []
      : [{ subject: `prices:${tenant.slug}`, failedChecks: ['prices_proven'], found: { event: eventId } }]
  }

  /** A round that meets what cannot be read is over. */
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
   * A page that cannot be read is halved, down to the one entry whose rows hold what no column should: that is tampering,
   * too, and must not keep the sweeper from the rest.
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
      log.error({ err: error, tenant: tenant.slug, log_index: from }, 'what is stored under an entry cannot be read')
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
      const audit = deps.figures().audit(tenant, range)
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
