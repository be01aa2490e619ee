import { type AdjustmentKind, type AdjustmentSums, added, sumOf } from '../../../db/adjustment-sums.ts'
import type { TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'

const textsAtOnce = 500

/** Collects the additions of a transaction to the ratings and the sums of erased events, and its removals. */
export class AdjustmentChange implements AdjustmentSums {
  ratings = 0n
  erased = 0n
  readonly #tx: TenantTx
  readonly #yieldIfLong = createEventLoopYielder()

  constructor(tx: TenantTx) {
    this.#tx = tx
  }

  async add(kind: AdjustmentKind, texts: readonly string[]): Promise<void> {
    for (let at = 0; at < texts.length; at += textsAtOnce) {
      const some = texts.slice(at, at + textsAtOnce)
      this[kind] = added(this[kind], sumOf(this.#tx.proofs, this.#tx.tenantId, kind, some))
      await this.#yieldIfLong()
    }
  }

  async remove(kind: AdjustmentKind, texts: readonly string[]): Promise<void> {
    const taken = new AdjustmentChange(this.#tx)
    await taken.add(kind, texts)
    this[kind] = added(this[kind], -taken[kind])
  }
}
