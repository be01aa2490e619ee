import { readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from '../keys/keys-types.ts'
import type { HoldEvents } from '../legal-holds/holds-types.ts'
import type { StoredCheckpoints } from '../log/log-types.ts'
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
import { firstHoldCursor, type HoldCursor, HoldSweep } from './hold-sweep.ts'
import { createPageCheck, type PageChecked, pageRecords } from './page-check.ts'
import { scanRecords } from './record-scan.ts'
import type { Finding, RoundStep, ScanResult, SweptFigures } from './sweep-types.ts'

export interface SweepDeps extends Pick<ModuleParts, 'database' | 'logs' | 'log'> {
  keys: ProvenanceKeys & ProvenanceKeyAudit
  records: SealedRecords
  verification: StoredVerification
  storedCheckpoints?: StoredCheckpoints | undefined
  tampering: TamperReporter
  verifiedEvents: VerifiedEvents
  erasedContents: ErasedContentCheck
  holdEvents: HoldEvents
  retention: RetentionPolicy
  figures: SweptFigures
}

/** The result of one step, and its cost in records read. */
export interface Stepped extends ScanResult {
  cost: number
}

type SteppedRound<Cursor> = Stepped & Pick<RoundStep<Cursor>, 'cursor' | 'isRoundOver'>

/** Maximum entries for {@link SealedRecords.ofEntries}. */
const pageEntriesMax = 500
const pageEntriesMin = 16
const scanRecordsMax = 5_000
/** Cost of an entry without its records, in records: a signature and a tree. */
const entryCost = 3
/** Cost per scanned record: two columns are read, and nothing is verified. */
const scanCost = 0.1

/** Cost of a row and a cached event. */
const holdCost = 0.2

/** Maximum consecutive unreadable entries. Beyond it, the cause is not single entries, and the scan fails. */
const unreadableMax = 100

/** The steps of a scan, each a short piece of work that reports its findings. */
export class SweepSteps {
  readonly #deps: SweepDeps
  readonly #checkHead: ReturnType<typeof createHeadCheck>
  readonly #holds: HoldSweep
  readonly #sweepAccess: ReturnType<typeof createAccessSweep>
  readonly #checkPage: ReturnType<typeof createPageCheck>
  /** Records per entry in the last page. */
  #density = 1
  /** Consecutive unreadable entries. */
  #unreadable = 0

  constructor(deps: SweepDeps) {
    this.#deps = deps
    this.#checkHead = createHeadCheck({ storedCheckpoints: undefined, ...deps })
    this.#holds = new HoldSweep(deps)
    this.#sweepAccess = createAccessSweep(deps)
    this.#checkPage = createPageCheck(deps)
  }

  /** Returns the number of log entries that cost about as much as the given number of records. */
  entriesWorth(records: number): number {
    return Math.ceil(records / (this.#density + entryCost))
  }

  async head(tenant: Tenant): Promise<Stepped> {
    const problem: Finding = { subject: `log:${tenant.logName}`, failedChecks: ['readable'], found: {} }
    const findings = await this.#checkHead(tenant).catch(
      this.#ifCorrupted({ tenant: tenant.slug }, 'the head of a log cannot be read', [problem]),
    )
    return this.#stepped(tenant, findings, 1)
  }

  /** Checks some holds, releases and retention rules, and some of their events. Unreadable data ends the round. */
  async holds(tenant: Tenant, from: HoldCursor): Promise<SteppedRound<HoldCursor>> {
    const problem: Finding = { subject: `tenant:${tenant.slug}`, failedChecks: ['readable'], found: {} }
    const swept = await this.#holds.step(tenant, from).catch(
      this.#ifCorrupted({ tenant: tenant.slug }, 'legal holds or retention rules cannot be read', {
        ...{ rows: 1, findings: [problem], cursor: firstHoldCursor, isRoundOver: true },
      }),
    )
    const { rows, findings, cursor, isRoundOver } = swept
    return { ...this.#stepped(tenant, findings, rows * holdCost + 1), cursor, isRoundOver }
  }

  /** Checks some rows that grant access, and some events about them. */
  async access(tenant: Tenant, from: AccessCursor): Promise<SteppedRound<AccessCursor>> {
    const { rows, findings, cursor, isRoundOver } = await this.#sweepAccess(tenant, from)
    return { ...this.#stepped(tenant, findings, rows * holdCost + 1), cursor, isRoundOver }
  }

  /** Checks entries of the log from an index on; `next` is where to continue, undefined at the end. */
  async page(tenant: Tenant, from: number): Promise<Stepped & { next: number | undefined }> {
    const limit = Math.min(pageEntriesMax, Math.max(pageEntriesMin, Math.floor(pageRecords / this.#density)))
    const { places, checked, failed, findings } = await this.#checkReadable(tenant, from, limit)
    if (places > 0) this.#density = Math.max(1, checked / places)
    const cost = checked + Math.min(places, pageEntriesMax) * entryCost + 1
    const next = places === 0 ? undefined : from + places
    return { ...this.#stepped(tenant, findings, cost), checked, failed, next }
  }

  /** Creates the comparison of aggregates with the records. Its first step compares the price list with its event. */
  figures(tenant: Tenant, range: 'newest' | 'all'): () => Promise<Stepped & { isOver: boolean }> {
    const audit = this.#deps.figures.audit(tenant, range)
    let isBegun = false
    return async () => {
      const prices = isBegun ? [] : await this.#checkPrices(tenant)
      isBegun = true
      const { findings, cost, isOver } = await audit.step()
      return { ...this.#stepped(tenant, [...prices, ...findings], cost), isOver }
    }
  }

  /** Searches records in id order. */
  async scan(tenant: Tenant, afterId: string): Promise<Stepped & { next: string | undefined }> {
    const { lastId, records, findings } = await scanRecords(this.#deps, tenant, afterId, scanRecordsMax)
    return { ...this.#stepped(tenant, findings, records * scanCost + 1), next: lastId }
  }

  #stepped(tenant: Tenant, findings: readonly Finding[], cost: number): Stepped {
    this.#deps.tampering.report(
      tenant,
      findings.map((finding) => ({ ...finding, service: 'sweeper' })),
    )
    return { checked: 0, failed: 0, inconsistent: findings.length, cost }
  }

  /** Returns a handler that logs unreadable data, and returns the result instead. Rethrows any other error. */
  #ifCorrupted<Result>(details: object, message: string, result: Result): (error: unknown) => Result {
    return (error) => {
      if (!isCorruptionError(error)) throw error
      this.#deps.log.error({ err: error, ...details }, message)
      return result
    }
  }

  async #checkPrices({ slug }: Tenant): Promise<Finding[]> {
    const { database, figures } = this.#deps
    const { isProven, eventId = null } = await readTenant(database, slug, figures.prices)
    return isProven ? [] : [{ subject: `prices:${slug}`, failedChecks: ['prices_proven'], found: { event: eventId } }]
  }

  /**
   * Checks a page. Halves an unreadable page, down to the one entry whose rows contain invalid values. That is
   * tampering, too, and must not keep the sweeper from the rest.
   */
  async #checkReadable(tenant: Tenant, from: number, limit: number): Promise<PageChecked> {
    try {
      const page = await this.#checkPage(tenant, from, limit)
      this.#unreadable = 0
      return page
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      if (limit > 1) return this.#checkReadable(tenant, from, Math.floor(limit / 2))
      this.#unreadable += 1
      if (this.#unreadable > unreadableMax) throw error
      const details = { err: error, tenant: tenant.slug, log_index: from }
      this.#deps.log.error(details, 'the stored contents of a log entry cannot be read')
      const found = { log_index: from }
      const finding: Finding = { subject: `log:${tenant.logName}`, failedChecks: ['readable'], found }
      return { places: 1, checked: 0, failed: 0, findings: [finding] }
    }
  }
}
