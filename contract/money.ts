/** Money is US dollars with six decimals outside, and whole micro-dollars inside, where sums are exact. */

/** Largest amount taken, in dollars: its micro-dollars are still a safe integer. */
export const costUsdMax = 1_000_000_000

/**
 * Micro-dollars of an amount, rounded half up at the sixth decimal. The decimal that is rounded is the shortest one
 * that reads back as the number, which is what the caller wrote: 1.0000005 is 1.000001, although the binary number
 * nearest to it lies below. Throws RangeError outside 0..{@link costUsdMax}.
 */
export function microsOfUsd(usd: number): number {
  if (!(usd >= 0 && usd <= costUsdMax)) throw new RangeError(`an amount is 0 to ${costUsdMax}, not ${usd}`)
  // Division rounds correctly, so a number that it gives back has no more than six decimals.
  const nearest = Math.round(usd * 1_000_000)
  if (nearest / 1_000_000 === usd) return Math.abs(nearest)
  // Below a millionth the shortest decimal is written with an exponent, and there is nothing but the half to look at.
  if (usd < 1e-6) return usd >= 5e-7 ? 1 : 0
  const [whole = '', decimals = ''] = String(usd).split('.')
  const micros = Number(whole) * 1_000_000 + Number(decimals.slice(0, 6).padEnd(6, '0'))
  return decimals.charAt(6) >= '5' ? micros + 1 : micros
}

/** The amount in dollars. Division rounds correctly, so its shortest decimal has at most six decimals. */
export function usdOfMicros(micros: number): number {
  return micros / 1_000_000
}

/** An amount as records hold it: at most six decimals. Throws RangeError outside 0..{@link costUsdMax}. */
export function roundUsd(usd: number): number {
  return usdOfMicros(microsOfUsd(usd))
}
