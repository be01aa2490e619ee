import type { Candidate } from './alert-findings.ts'

/** The worst of what is offered, by how many times it exceeds its threshold; of equals, what came first. */
export class TopCandidates {
  readonly #countMax: number
  /** How many are held before those that are too many go: not as many for all, or all would sort at the same time. */
  readonly #heldMax: number
  #kept: Candidate[] = []
  /** Nothing that exceeds by this or less is among the worst any more. */
  #floor = Number.NEGATIVE_INFINITY

  constructor(countMax: number) {
    this.#countMax = countMax
    this.#heldMax = countMax * (2 + Math.random())
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0
  }

  /** Whether one would be kept. */
  wants(excess: number): boolean {
    return excess > this.#floor
  }

  add(candidate: Candidate): void {
    this.#kept.push(candidate)
    if (this.#kept.length < this.#heldMax) return
    this.#kept = this.inOrder()
    this.#floor = this.#kept.at(-1)!.excess
  }

  /** The worst first. */
  inOrder(): Candidate[] {
    return this.#kept.toSorted((a, b) => (a.excess === b.excess ? 0 : b.excess - a.excess)).slice(0, this.#countMax)
  }
}
