import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { isCorruptionError } from '../../../records/record-errors.ts'
import { parseCanonical } from '../../../records/record-response.ts'
import { findRecord, includingErasable } from '../../../records/record-store.ts'
import { findingKey, type NamedFinding } from '../tamper-finding.ts'
import type { RecordVerifier } from './record-verifier.ts'
import { findReportEvent, type ReportPlace } from './tamper-report-store.ts'

/** The evidence of a claim. */
export interface ReportProof {
  /** The event that the claim names: null for none, undefined without a claim. */
  eventId: string | null | undefined
  /** Whether the event exists, is the report of that finding and day, and verifies. */
  isProven: boolean
}

/**
 * Creates the check of claims. A claim alone proves nothing: anyone who controls the database can write one, for any
 * future day, to prevent a report.
 */
export function createReportProof(deps: { database: Database; check: RecordVerifier }) {
  const { database, check } = deps

  async function isReport(tenant: Tenant, eventId: string, finding: NamedFinding, day: string): Promise<boolean> {
    const { event, verify } = await database.withTenant(
      tenant.slug,
      async (tx) => {
        const event = await findRecord(tx, eventId, includingErasable)
        return { event, verify: await check(tx, tenant, event ? [event] : []) }
      },
      { readOnly: true, snapshot: true },
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
    const eventId = await database.withTenant(tenant.slug, (tx) => findReportEvent(tx, place), { readOnly: true })
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
