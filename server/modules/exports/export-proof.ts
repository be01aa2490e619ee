import { canonicalize } from '../../../provenance/index.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ProofRules } from '../../db/row-proofs.ts'
import { orderOf } from './export-response.ts'
import type { ExportRow } from './exports-store.ts'
import type { ExportOrder } from './exports-types.ts'

/** A stored row. Its filter has the proof of the order beside its own members. */
export type StoredExport = Omit<ExportRow, 'filter'> & { filter: ExportRow['filter'] & { proof?: string } }

/** An order decides which records the Hub opens for a file, and who sees it. Progress and times are not bound. */
const exportOrders: ProofRules<ExportOrder> = {
  table: 'hub.exports',
  fields: (order) => [
    order.jobId,
    order.format,
    order.compression,
    canonicalize(order.filter as JsonValue),
    order.recordTypes,
    order.verify,
    order.includeProvenance,
    order.createdBy,
  ],
  subject: ({ jobId }) => `export:${jobId}`,
}

/** Returns the filter of an order with its proof, as JSON for storage. */
export function filterWithProof(tx: TenantTx, order: ExportOrder): string {
  const proof = tx.proofs.of(exportOrders, tx.tenantId, order).toString('base64url')
  return JSON.stringify({ ...order.filter, proof })
}

/** Returns the export if its order is the one that the Hub was given. Reports it otherwise, as if it did not exist. */
export function soundExport(tx: TenantTx, stored: StoredExport | undefined): ExportRow | undefined {
  if (stored === undefined) return undefined
  const { proof = '', ...filter } = stored.filter
  const row = { ...stored, filter }
  const order = { ...orderOf(row), proof: Buffer.from(proof, 'base64url') }
  return tx.proofs.sound(exportOrders, tx.tenantId, order) && row
}
