import { AsyncResource } from 'node:async_hooks'
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../secrets/encryption.ts'
import type { ProvenRows } from './proven-rows.ts'

/** The part of a table's rules that its proofs are made by. */
export type ProofRules<Row> = Pick<ProvenRows<Row>, 'table' | 'fields' | 'subject'>

/** A row of a table whose rows carry a proof. */
export type Proven<Row> = Row & { proof: Buffer | null }

/** Receives a refused row. It must not throw. */
export type DenialReport = (tenantId: string, subject: string, table: string) => void

/**
 * Binds the fields that grant access to a key outside the database. An attacker who can only write to the database can
 * neither insert such a row nor edit one.
 */
export interface RowProofs {
  /** Returns the proof of a row, for storage beside its fields. */
  of<Row>(rows: ProofRules<Row>, tenantId: string, row: Row): Buffer
  /** Returns a number below 2^128 that is unpredictable without the key. Faster than {@link of}. */
  keyedHash(text: string): bigint
  /** Returns whether the proof is the one of these fields. */
  holds<Row>(rows: ProofRules<Row>, tenantId: string, row: Proven<Row>): boolean
  /** Returns the row if its proof holds. Reports it otherwise, and returns undefined as if the row did not exist. */
  sound<Row, Given extends Proven<Row>>(
    rows: ProofRules<Row>,
    tenantId: string,
    row: Given | undefined,
  ): Given | undefined
}

/** HMAC-SHA256 over table, tenant and fields, so that a proof is valid for one row of one tenant. */
export function createRowProofs(masterKey: Buffer, report: DenialReport = () => {}): RowProofs {
  const key = deriveKey(masterKey, 'row proofs')
  const hashKey = deriveKey(masterKey, 'row hashes').toString('hex')
  // Leaves the transaction that meets the row, so that a report may open another.
  const refused = AsyncResource.bind(report)

  function of<Row>({ table, fields }: ProofRules<Row>, tenantId: string, row: Row): Buffer {
    return createHmac('sha256', key)
      .update(JSON.stringify([table, tenantId, ...fields(row)]))
      .digest()
  }

  function holds<Row>(rows: ProofRules<Row>, tenantId: string, row: Proven<Row>): boolean {
    const expected = of(rows, tenantId, row)
    return row.proof?.length === expected.length && timingSafeEqual(row.proof, expected)
  }

  return {
    of,
    // SHA-512/256 reveals only half of its state, so a text cannot be extended, and a key in front makes a MAC.
    keyedHash: (text) => BigInt(`0x${hash('sha512-256', hashKey + text).slice(0, 32)}`),
    holds,
    sound(rows, tenantId, row) {
      if (row === undefined || holds(rows, tenantId, row)) return row
      refused(tenantId, rows.subject(row, tenantId), rows.table)
      return undefined
    },
  }
}

/** The proofs of a process that has no keys yet. Reading such rows without keys is an error. */
export const noRowProofs: RowProofs = {
  of: unavailable,
  keyedHash: unavailable,
  holds: unavailable,
  sound: unavailable,
}

function unavailable(): never {
  throw new Error('row proofs are used before Database.useProofs')
}
