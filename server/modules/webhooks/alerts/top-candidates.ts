import type { Candidate } from './alert-findings.ts'

/** Keeps the worst candidates, by the ratio to their threshold; of equals, the first. */
export class TopCandidates {
  readonly #countMax: number
  /**
   * Maximum number held before a sort drops the excess. It differs between instances, so that not all sort at the same
   * time.
   */
  readonly #heldMax: number
  #kept: Candidate[] = []
  /** Candidates with this excess or less are no longer among the worst. */
  #floor = Number.NEGATIVE_INFINITY

  constructor(countMax: number) {
    this.#countMax = countMax
    this.#heldMax = countMax * (2 + Math.random())
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0
  }

  /** Returns whether a candidate would be kept. */
  wants(excess: number): boolean {
    return excess > this.#floor
  }

  add(candidate: Candidate): void {
    this.#kept.push(candidate)
    if (this.#kept.length < this.#heldMax) return
    this.#kept = this.inOrder()
    this.#floor = this.#kept.at(-1)!.excess
  }

  /** Returns the candidates, the worst first. */
  inOrder(): Candidate[] {
    return this.#kept.toSorted((a, b) => (a.excess === b.excess ? 0 : b.excess - a.excess)).slice(0, this.#countMax)
  }
}
