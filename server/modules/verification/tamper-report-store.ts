import type { TenantTx } from '../../db/database.ts'
import { findRow, updateRows } from '../../db/tenant-rows.ts'

/** The place of the one report of a finding and UTC day. */
export interface ReportPlace {
  /** A record's own id, or a derived id for another subject. */
  id: string
  /** `YYYY-MM-DD` */
  day: string
}

/** Claims a report. Returns false if it is already claimed. The caller must name its event in the same transaction. */
export async function claimTamperReport(tx: TenantTx, { id, day }: ReportPlace): Promise<boolean> {
  const claimed = await tx.db
    .insertInto('hub.tamper_reports')
    .values({ tenant_id: tx.tenantId, record_id: id, reported_on: day, event_id: null })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'record_id', 'reported_on']).doNothing())
    .executeTakeFirst()
  return claimed.numInsertedOrUpdatedRows === 1n
}

/** Stores the id of the report's governance event in its claim. */
export async function nameReportEvent(tx: TenantTx, { id, day }: ReportPlace, eventId: string): Promise<void> {
  await updateRows(tx, 'hub.tamper_reports', { record_id: id, reported_on: day }, { event_id: eventId })
}

/** Returns the event that a claim names: null for none, undefined without a claim. */
export async function findReportEvent(tx: TenantTx, { id, day }: ReportPlace): Promise<string | null | undefined> {
  const claim = await findRow(tx, 'hub.tamper_reports', ['event_id'], { record_id: id, reported_on: day })
  return claim?.event_id
}

/** Returns the same as {@link findReportEvent}, and locks the claim until the transaction ends. */
export async function lockReportEvent(tx: TenantTx, { id, day }: ReportPlace): Promise<string | null | undefined> {
  const claim = await findRow(tx, 'hub.tamper_reports', ['event_id'], { record_id: id, reported_on: day }, 'for update')
  return claim?.event_id
}

/** Deletes up to `count` claims of days before `day`. Returns their number. */
export async function deleteTamperReports(tx: TenantTx, day: string, count: number): Promise<number> {
  const deleted = await tx.client.query(
    `delete from hub.tamper_reports where tenant_id = $1 and (record_id, reported_on) in (
       select record_id, reported_on from hub.tamper_reports where tenant_id = $1 and reported_on < $2 limit $3)`,
    [tx.tenantId, day, count],
  )
  return deleted.rowCount ?? 0
}
