/** Returns a stream of numbers in [0, 1) that depends on the row alone (mulberry32). */
export function numbersOf(row: number): () => number {
  let state = (row + 1) * 0x9e3779b1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Picks one of the weighted choices by a number in [0, 1). */
export function pick<T>(choices: readonly (readonly [T, number])[], chance: number): T {
  let rest = chance * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [choice, weight] of choices) {
    rest -= weight
    if (rest < 0) return choice
  }
  return choices.findLast(([, weight]) => weight > 0)![0]
}

/** Returns true for an even `share` of the calls: 31 of each 100 for 0.31, so that small numbers keep the share too. */
export function evenShare(share: number): () => boolean {
  let calls = 0
  return () => {
    calls += 1
    return Math.floor(calls * share) > Math.floor((calls - 1) * share)
  }
}
