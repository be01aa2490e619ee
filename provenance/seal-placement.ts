import { cosignBytes } from './cosign-bytes.ts'
import { type Claim, type SealCheck, SealRows } from './export/sealed-rows.ts'
import type { SyncAsyncTask } from './sync-async-runner.ts'

/** Gathers rows by their seals and settles each seal as soon as possible. */
export type SealPlacement = {
  place(claim: Claim): SyncAsyncTask<void>
  /** @param line the line after the last row */
  finish(line: number): SyncAsyncTask<void>
}

/** Maximum number of open seals if no manifest lists the seals. */
const looseSealsMax = 64

/** Places rows without a manifest. Rows of one seal are usually close together; the others are verified one by one. */
export class LooseSeals implements SealPlacement {
  readonly #check: SealCheck
  /** Open seals, the one with the oldest first row first. */
  readonly #open = new Map<string, SealRows>()
  #current: SealRows | undefined
  seals = 0

  constructor(check: SealCheck) {
    this.#check = check
  }

  *place(claim: Claim): SyncAsyncTask<void> {
    if (this.#current?.isHeadOf(claim.cosign)) this.#current.add(claim, true)
    else {
      // All bytes that the rows of a seal share. A difference means another seal.
      const { leafIndex, signature, path } = cosignBytes
      const head = String.fromCharCode(
        ...claim.cosign.subarray(0, leafIndex),
        ...claim.cosign.subarray(signature, path),
      )
      this.#current = this.#open.get(head)
      if (this.#current === undefined) {
        const oldest = this.#open.entries().next()
        if (this.#open.size === looseSealsMax && !oldest.done) yield* this.#settle(...oldest.value)
        this.#current = new SealRows(undefined)
        this.#open.set(head, this.#current)
        this.seals++
      }
      this.#current.add(claim)
    }
    if (!this.#current.isComplete) return
    for (const [head, rows] of this.#open) if (rows === this.#current) yield* this.#settle(head, rows)
    this.#current = undefined
  }

  *finish(): SyncAsyncTask<void> {
    for (const [head, rows] of this.#open) yield* this.#settle(head, rows)
  }

  *#settle(head: string, rows: SealRows): SyncAsyncTask<void> {
    this.#open.delete(head)
    yield* rows.settle(this.#check)
  }
}
