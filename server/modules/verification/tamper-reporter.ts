import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { bytesToUuid } from '../../../provenance/bytes.ts'
import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { findRecord, includingErasable } from '../../records/record-store.ts'
import type { RecordVerifier } from './record-verifier.ts'
import {
  claimTamperReport,
  deleteTamperReports,
  findReportEvent,
  lockReportEvent,
  nameReportEvent,
  type ReportPlace,
} from './tamper-report-store.ts'
import type { NamedFinding, TamperFinding, TamperReporter } from './verification-types.ts'

const dayMs = 24 * 3_600_000
/** Days; long enough for clock differences and for a report in progress at midnight. */
const claimDays = 2
const forgottenAtOnce = 10_000

/**
 * Maximum number of cached reports. They save the database the same claim at every read of a broken record, and in
 * every scan.
 */
const rememberedMax = 10_000

/** Maximum number of queued findings: a page has 1,000 records, and each needs one transaction. */
const waitingMax = 10_000

/** Maximum number of subjects in a line of the process log. */
const loggedMax = 10

interface Waiting {
  tenant: Tenant
  finding: NamedFinding
  day: string
}

/** Returns the id of a claim: a record's own id, or a name-based one (RFC 9562, section 5.8) for any other finding. */
function claimIdOf(finding: NamedFinding): string {
  const key = findingKey(finding)
  if (key.startsWith('record:')) return key.slice('record:'.length)
  const bytes = hash('sha256', `orghub/tamper-report/v2\n${key}`, 'buffer').subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytesToUuid(bytes)
}

/**
 * Writes `hub.tamper_detected` once per {@link findingKey} and UTC day, regardless of the number of readers that find
 * it. A claim without a proven report does not prevent the report: it is itself tampering. The process log contains
 * each finding in any case.
 */
export function createTamperReporter(
  deps: Pick<ModuleParts, 'database' | 'governance'> & {
    check: RecordVerifier
    log: Pick<DatabaseLog, 'error'>
    now?: () => number
    waitingMax?: number
  },
): TamperReporter {
  const { database, governance, log, now = Date.now, waitingMax: max = waitingMax } = deps
  const proofOf = createReportProof(deps)
  const remembered = new LRUCache<string, true>({ max: rememberedMax })
  /** Queued findings by day, tenant and finding, in the order of arrival. The first one is being written. */
  const waiting = new Map<string, Waiting>()
  let leftOut = 0
  let underWay: Promise<void> | undefined

  async function append(tx: TenantTx, { tenant, finding, day }: Waiting): Promise<void> {
    const { subject } = finding
    const event = await governance.append(tx, tenant, {
      kind: 'hub.tamper_detected',
      subject,
      details: {
        failed_checks: [...finding.failedChecks],
        reported_on: day,
        ...(finding.found && { found: finding.found }),
      },
      actor: { service: finding.service },
    })
    await nameReportEvent(tx, { id: claimIdOf(finding), day }, event.recordId)
  }

  async function write(one: Waiting): Promise<void> {
    const { tenant, finding, day } = one
    const place: ReportPlace = { id: claimIdOf(finding), day }
    const isWritten = await database.withTenant(tenant.slug, async (tx) => {
      const isOurs = await claimTamperReport(tx, place)
      if (isOurs) await append(tx, one)
      return isOurs
    })
    if (isWritten) return
    const { eventId, isProven } = await proofOf(tenant, finding, place)
    if (isProven) return
    if (eventId === undefined) throw new Error('the claim of a report was deleted')
    await database.withTenant(tenant.slug, async (tx) => {
      // Another process may have replaced the claim already.
      if ((await lockReportEvent(tx, place)) === eventId) {
        await append(tx, { ...one, finding: withClaim(finding, eventId) })
      }
    })
  }

  /** Writes reports one at a time, so that they do not take the connections that requests need. */
  async function writeAll(): Promise<void> {
    for (const [name, one] of waiting) {
      try {
        await write(one)
        remembered.set(name, true)
      } catch (error) {
        const details = { err: error, tenant: one.tenant.slug, subject: one.finding.subject }
        log.error(details, 'tampering could not be reported')
      }
      waiting.delete(name)
    }
    if (leftOut > 0) log.error({ findings: leftOut }, 'too many tamper alerts at once; the next reads report them')
    leftOut = 0
    underWay = undefined
  }

  return {
    report(tenant, findings) {
      const day = formatTimestamp(now()).slice(0, 10)
      const fresh: NamedFinding[] = []
      for (const finding of findings.map(named)) {
        const name = `${day} ${tenant.slug} ${findingKey(finding)}`
        if (remembered.has(name) || waiting.has(name)) continue
        if (waiting.size < max) {
          waiting.set(name, { tenant, finding, day })
          fresh.push(finding)
        } else leftOut += 1
      }
      if (fresh.length > 0) {
        const details = { tenant: tenant.slug, findings: fresh.length, first: fresh.slice(0, loggedMax).map(shortOf) }
        log.error(details, 'stored data was tampered with')
      }
      if (waiting.size > 0) underWay ??= writeAll()
    },
    async settled() {
      while (underWay !== undefined) await underWay
    },
    async deleteOldClaims(tx) {
      const before = formatTimestamp(now() - claimDays * dayMs).slice(0, 10)
      return (await deleteTamperReports(tx, before, forgottenAtOnce)) === forgottenAtOnce
    },
  }
}

function shortOf({ subject, failedChecks }: NamedFinding) {
  return { subject, failed_checks: failedChecks }
}

/** Returns the finding with a note that somebody tried to suppress its report. */
function withClaim(finding: NamedFinding, eventId: string | null): NamedFinding {
  return {
    ...finding,
    failedChecks: [...finding.failedChecks, reportCheck],
    found: { ...finding.found, claimed_event: eventId },
  }
}

/** The evidence of a claim. */
interface ReportProof {
  /** The event that the claim names: null for none, undefined without a claim. */
  eventId: string | null | undefined
  /** Whether the event exists, is the report of that finding and day, and verifies. */
  isProven: boolean
}

/**
 * Creates the check of claims. A claim alone proves nothing: anyone who controls the database can write one, for any
 * future day, to prevent a report.
 */
function createReportProof(deps: { database: Database; check: RecordVerifier }) {
  const { database, check } = deps

  async function isReport(tenant: Tenant, eventId: string, finding: NamedFinding, day: string): Promise<boolean> {
    const { event, verify } = await readTenant(
      database,
      tenant.slug,
      async (tx) => {
        const event = await findRecord(tx, eventId, includingErasable)
        return { event, verify: await check(tx, tenant, event ? [event] : []) }
      },
      { snapshot: true },
    )
    const members = parseCanonical(event?.canonical ?? '')
    const isReportEvent =
      members?.event_kind === 'hub.tamper_detected' &&
      members.created_by === 'service:hub' &&
      members.subject === finding.subject &&
      isJsonObject(members.details) &&
      members.details.reported_on === day &&
      keyOfReport(finding.subject, members.details) === findingKey(finding)
    return isReportEvent && (await verify())[0]!.verified
  }

  return async (tenant: Tenant, finding: NamedFinding, place: ReportPlace): Promise<ReportProof> => {
    const eventId = await readTenant(database, tenant.slug, (tx) => findReportEvent(tx, place))
    if (!eventId) return { eventId, isProven: false }
    try {
      return { eventId, isProven: await isReport(tenant, eventId, finding, place.day) }
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      return { eventId, isProven: false }
    }
  }
}

function keyOfReport(subject: string, { failed_checks: checks, found }: JsonObject): string {
  const failedChecks = Array.isArray(checks) ? checks.map(String) : []
  return findingKey({ subject, failedChecks, ...(isJsonObject(found) && { found }) })
}

/** An additional failed check of a report that somebody tried to prevent. */
const reportCheck = 'report_proven'

function named(finding: TamperFinding): NamedFinding {
  if ('subject' in finding) return finding
  const { recordId, failedChecks } = finding
  return { subject: `record:${recordId}`, failedChecks, service: 'verification' }
}

/**
 * Returns the text by which findings of one day count as the same. A record has one. Another subject has one for each
 * set of failed checks and each table, so that a finding does not hide a later one of another kind. The names come from
 * the code, so their number has a bound.
 */
function findingKey({ subject, failedChecks, found }: Omit<NamedFinding, 'service'>): string {
  if (subject.startsWith('record:')) return subject
  const checks = failedChecks.filter((check) => check !== reportCheck).sort()
  return JSON.stringify([subject, checks, found?.table ?? null])
}
