import { hash } from 'node:crypto'
import type { TenantTx } from './database.ts'
import type { ProofRules } from './row-proofs.ts'

/** Names, by table, the row that a change puts in force; null after a removal. Governance events carry it. */
export type RowDigests = Record<string, string | null>

/** Returns the SHA-256 of a proof. The proof is a MAC, so its digest reveals no field of the row. */
export function digestOfProof(proof: Buffer): string {
  return hash('sha256', proof, 'hex')
}

/**
 * Returns the `row_digests` member of the event that a change of a proven row writes in the same transaction.
 *
 * @param row the row as it is stored now; null if it was removed
 */
export function rowDigests<Row>(
  tx: Pick<TenantTx, 'tenantId' | 'proofs'>,
  rows: ProofRules<Row>,
  row: Row | null,
): RowDigests {
  return { [rows.table]: row && digestOfProof(tx.proofs.of(rows, tx.tenantId, row)) }
}
