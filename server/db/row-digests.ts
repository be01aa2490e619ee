import { hash } from 'node:crypto'
import type { TenantTx } from './database.ts'
import type { ProofRules } from './row-proofs.ts'

/** Names a row by its table; null stands for a row that was removed. */
export type RowDigests = Record<string, string | null>

/** Returns the SHA-256 of a proof. The proof is a MAC, so its digest reveals no field of the row. */
export function digestOfProof(proof: Buffer): string {
  return hash('sha256', proof, 'hex')
}

/**
 * Names a row for the event that a change writes in the same transaction. `row_digests` of the event names the row in
 * force from then on. `former_row_digests` names the row that the change started from, if the new one keeps a part of it.
 *
 * @param row null if the change removed it
 */
export function rowDigests<Row>(
  tx: Pick<TenantTx, 'tenantId' | 'proofs'>,
  rows: ProofRules<Row>,
  row: Row | null,
): RowDigests {
  return { [rows.table]: row && digestOfProof(tx.proofs.of(rows, tx.tenantId, row)) }
}
