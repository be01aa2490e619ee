/**
 * Returns the pause before a retry: the first one, doubled by each earlier retry, up to the maximum.
 *
 * @param retries the number of earlier retries: 0 before the first one
 * @param pauses the first pause and the maximum, in the unit of the result; no maximum by default
 */
export function backoff(retries: number, pauses: { first: number; max?: number }): number {
  return Math.min(pauses.first * 2 ** retries, pauses.max ?? Number.POSITIVE_INFINITY)
}
