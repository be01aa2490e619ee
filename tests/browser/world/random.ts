/** The same numbers in [0, 1) in every run (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of these, the more often the more it weighs. */
export function pick<T extends { weight: number }>(choices: readonly T[], chance: number): T {
  let rest = chance * choices.reduce((sum, { weight }) => sum + weight, 0)
  for (const choice of choices) {
    rest -= choice.weight
    if (rest < 0) return choice
  }
  return choices.at(-1)!
}
