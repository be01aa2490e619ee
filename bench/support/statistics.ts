/** Returns the value below which the share `q` (0 to 1) of the values lies; NaN without values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Rounds to the significant digits that a benchmark can honestly state. */
export function rounded(value: number, digits = 3): number {
  return Number(value.toPrecision(digits))
}

export interface Spread {
  median: number
  min: number
  max: number
  values: number[]
}

export function spreadOf(values: readonly number[], digits = 3): Spread {
  const round = (value: number) => rounded(value, digits)
  return {
    median: round(median(values)),
    min: round(Math.min(...values)),
    max: round(Math.max(...values)),
    values: values.map(round),
  }
}
