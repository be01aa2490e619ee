/** A decimal number, exactly: `digits` / 10^`decimals`. */
export interface Decimal {
  digits: bigint
  decimals: number
}

/** The decimal that reads back as the number, which is what the caller wrote: 0.075 is 75 with three decimals. */
export function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 }
}

/**
 * Micro-dollars, rounded half up. Prices are whole multiples of 1/`unitsPerUsd` dollars per million tokens. Dollars per
 * million tokens are micro-dollars per token, so the sum is one of micro-dollars already.
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
 * Milliseconds since the epoch with the microseconds as a fraction, so that times of different microseconds compare as
 * they should: a number tells them apart until the year 2248.
 */
export function exactMs({ epochMs, microsOfMs }: { epochMs: number; microsOfMs: number }): number {
  return epochMs + microsOfMs / 1000
}
