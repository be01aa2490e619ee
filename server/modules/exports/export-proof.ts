import { canonicalize } from '../../../provenance/index.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ProofRules } from '../../db/row-proofs.ts'
import { orderOf } from './export-response.ts'
import type { ExportRow } from './exports-store.ts'
import type { ExportOrder } from './exports-types.ts'

/** A stored row. Its filter contains the proof of the request beside its own members. */
export type StoredExport = Omit<ExportRow, 'filter'> & { filter: ExportRow['filter'] & { proof?: string } }

/**
 * The bound fields of a request, which decides the exported records and their readers. Progress and times are not
 * bound.
 */
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

/** Returns the filter of a request with its proof, as JSON for storage. */
export function filterWithProof(tx: TenantTx, order: ExportOrder): string {
  const proof = tx.proofs.of(exportOrders, tx.tenantId, order).toString('base64url')
  return JSON.stringify({ ...order.filter, proof })
}

/** Returns the export if its proof holds. Reports it otherwise, and returns undefined as if it did not exist. */
export function soundExport(tx: TenantTx, stored: StoredExport | undefined): ExportRow | undefined {
  if (stored === undefined) return undefined
  const { proof = '', ...filter } = stored.filter
  const row = { ...stored, filter }
  const order = { ...orderOf(row), proof: Buffer.from(proof, 'base64url') }
  return tx.proofs.sound(exportOrders, tx.tenantId, order) && row
}
