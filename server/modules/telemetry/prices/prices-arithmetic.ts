/** An exact decimal number: `digits` / 10^`decimals`. */
export interface Decimal {
  digits: bigint
  decimals: number
}

/**
 * Returns the shortest decimal that reads back as the number, which is the caller's spelling: 0.075 is 75 with three
 * decimals.
 */
export function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 }
}

/**
 * Returns micro-dollars, rounded half up. Prices are whole multiples of 1/`unitsPerUsd` dollars per million tokens.
 * Dollars per million tokens are micro-dollars per token, so the sum is in micro-dollars.
 */
export function costMicrosOf(
  unitsPerUsd: bigint,
  inputUnits: bigint,
  tokensIn: number,
  outputUnits: bigint,
  tokensOut: number,
): number {
  const units = BigInt(tokensIn) * inputUnits + BigInt(tokensOut) * outputUnits
  return Number((2n * units + unitsPerUsd) / (2n * unitsPerUsd))
}

/**
 * Returns milliseconds since 1970 with the microseconds as a fraction, so that times compare by the microsecond: a
 * number distinguishes them until the year 2248.
 */
export function exactMs({ epochMs, microsOfMs }: { epochMs: number; microsOfMs: number }): number {
  return epochMs + microsOfMs / 1000
}
