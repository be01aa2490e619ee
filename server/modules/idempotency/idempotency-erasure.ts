import type { ErasureParticipant } from '../erasure/erasure-types.ts'
import type { Idempotency } from './idempotency-types.ts'

/** Deletes stored responses, because they name their records. */
export function idempotencyErasure(idempotency: Idempotency): ErasureParticipant {
  return {
    name: 'answers to repeated requests',
    forget: (tx, records) =>
      idempotency.forgetRecords(
        tx,
        records.map((record) => record.record_id),
      ),
  }
}
