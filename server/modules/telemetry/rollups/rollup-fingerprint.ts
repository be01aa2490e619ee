import { hash, randomBytes } from 'node:crypto'
import { latencyBinMax } from './latency-sketch.ts'
import { type Cell, idsOf, type Metrics } from './rollup-cells.ts'

const prime = 2n ** 61n - 1n
const metricCount = 7

const secret = randomBytes(32).toString('hex')
const randomWeight = () => randomBytes(8).readBigUInt64BE() % prime
const weights = Array.from({ length: metricCount }, randomWeight)
const binWeights = Array.from({ length: latencyBinMax + 1 }, randomWeight)

/**
 * Represents any number of cells in constant memory. It is linear: cells may be added in parts and in any order, and
 * two sets of cells with the same sums have the same fingerprint. Other sets differ, except with a chance of about
 * 2^-60: the weights are random and known only to this process. Error codes have a sum of their own, which is not
 * compared with that of rows whose failures are not divided by code.
 */
export class Fingerprint {
  #sum = 0n
  #ofErrorCodes = 0n
  #isDivided = true
  /** The totals that a report contains. Amounts are micro-dollars. */
  readonly totals = { invocations: 0, costEstimate: 0n, costComputed: 0n }

  add({ view, firstQuarter, dimensions, metrics }: Cell): void {
    const weighted = weightedSum(metrics)
    const place = `${view} ${firstQuarter}`
    const { error_code } = dimensions
    const base = error_code === null ? dimensions : { ...dimensions, error_code: null }
    this.#sum = (this.#sum + cellWeight(`${place} ${idsOf(base)}`) * weighted) % prime
    if (error_code !== null) {
      this.#ofErrorCodes = (this.#ofErrorCodes + cellWeight(`${place} ${idsOf(dimensions)}`) * weighted) % prime
    } else if (metrics.failures !== 0) this.#isDivided = false
    this.totals.invocations += metrics.invocations
    this.totals.costEstimate += metrics.costEstimate.value
    this.totals.costComputed += metrics.costComputed.value
  }

  merge(other: Fingerprint): void {
    this.#sum = (this.#sum + other.#sum) % prime
    this.#ofErrorCodes = (this.#ofErrorCodes + other.#ofErrorCodes) % prime
    this.#isDivided &&= other.#isDivided
    this.totals.invocations += other.totals.invocations
    this.totals.costEstimate += other.totals.costEstimate
    this.totals.costComputed += other.totals.costComputed
  }

  equals(other: Fingerprint): boolean {
    // Amounts of corrections are negative, and so may be the remainder.
    if ((this.#sum - other.#sum) % prime !== 0n) return false
    const isComparable = this.#isDivided && other.#isDivided
    return !isComparable || (this.#ofErrorCodes - other.#ofErrorCodes) % prime === 0n
  }
}

function cellWeight(name: string): bigint {
  return BigInt(`0x${hash('sha256', `${secret} ${name}`).slice(0, 16)}`) % prime
}

function weightedSum(metrics: Metrics): bigint {
  const values = [
    BigInt(metrics.invocations),
    BigInt(metrics.failures),
    metrics.tokensIn.value,
    metrics.tokensOut.value,
    metrics.costEstimate.value,
    metrics.costComputed.value,
    BigInt(metrics.unpriced),
  ]
  let sum = 0n
  for (const [at, value] of values.entries()) sum += weights[at]! * value
  for (const [bin, count] of metrics.latency.bins()) sum += (binWeights[bin] ?? 0n) * BigInt(count)
  return sum % prime
}
