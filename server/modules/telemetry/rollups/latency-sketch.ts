/**
 * A latency sketch counts latencies in bins that grow with the value. Any two sketches add up to the sketch of both,
 * and every quantile is known within a relative error. Bins are log-linear, as in HdrHistogram: each doubling is cut
 * into 64 equal parts, which needs no logarithm. The guarantee is that of DDSketch (Masson, Rim, Lee: "DDSketch: A Fast
 * and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019), with α = 1/128.
 */

const partBits = 6
const parts = 1 << partBits

/** Maximum error of {@link LatencySketch.quantile} relative to the exact value. Below 128 ms it is exact. */
export const latencyErrorMax = 1 / 128

const latencyMsMax = 599_999
/** The bin of the longest latency that an event may have. */
export const latencyBinMax = latencyBinOf(latencyMsMax)

/** Returns the bin of a whole number of milliseconds from 1 to 599,999. */
export function latencyBinOf(latencyMs: number): number {
  const shift = 31 - partBits - Math.clz32(latencyMs)
  return shift <= 0 ? latencyMs : shift * parts + (latencyMs >>> shift)
}

/** Returns the latency that represents a bin: the value with the same relative error to both ends of the bin. */
function latencyMsOf(bin: number): number {
  const shift = Math.max(0, (bin >> partBits) - 1)
  const first = (bin - shift * parts) << shift
  const last = first + (1 << shift) - 1
  return (2 * first * last) / (first + last)
}

const formatVersion = 1

export class LatencySketch {
  readonly #counts = new Map<number, number>()
  #count = 0
  /** The sorted bins, cached between quantiles. */
  #order: readonly (readonly [bin: number, count: number])[] | undefined

  get count(): number {
    return this.#count
  }

  /** Returns the number of latencies in each bin, in any order. */
  bins(): Iterable<readonly [bin: number, count: number]> {
    return this.#counts
  }

  /** Counts the latencies of a bin of {@link latencyBinOf}. */
  add(bin: number, count = 1): void {
    this.#order = undefined
    this.#counts.set(bin, (this.#counts.get(bin) ?? 0) + count)
    this.#count += count
  }

  merge(other: LatencySketch): void {
    for (const [bin, count] of other.#counts) this.add(bin, count)
  }

  /**
   * Returns the shortest latency, in milliseconds and within {@link latencyErrorMax}, that a share q of all do not
   * exceed: the "nearest rank", percentile_disc of SQL. Undefined without any latency.
   *
   * @param q from 0, the shortest, to 1, the longest
   */
  quantile(q: number): number | undefined {
    const place = Math.max(0, Math.ceil(q * this.#count) - 1)
    let before = 0
    this.#order ??= this.#sorted()
    for (const [bin, count] of this.#order) {
      before += count
      if (before > place) return latencyMsOf(bin)
    }
    return undefined
  }

  /**
   * Serialises the sketch: a version byte, then the bins in order. A bin is twice the distance from the bin before,
   * plus one if it has more than one latency, followed by their count in that case. Numbers are LEB128.
   */
  toBytes(): Buffer {
    const bytes = [formatVersion]
    let previous = 0
    for (const [bin, count] of this.#sorted()) {
      pushNumber(bytes, (bin - previous) * 2 + (count > 1 ? 1 : 0))
      if (count > 1) pushNumber(bytes, count)
      previous = bin
    }
    return Buffer.from(bytes)
  }

  /** Adds a result of {@link toBytes}. Throws RangeError for anything else, and may then have added a part of it. */
  addBytes(bytes: Uint8Array): void {
    readBins(bytes, 0, bytes.length, (bin, count) => this.add(bin, count))
  }

  static ofBytes(bytes: Uint8Array): LatencySketch {
    const sketch = new LatencySketch()
    sketch.addBytes(bytes)
    return sketch
  }

  #sorted(): [bin: number, count: number][] {
    return [...this.#counts].sort(([a], [b]) => a - b)
  }
}

/** Appends a number. Counts exceed 2^32, so it uses no bit operators. */
function pushNumber(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}

/**
 * Passes on the bins of a sketch by {@link LatencySketch.toBytes}, from `begin` to `end` of some bytes, with their
 * counts. Throws RangeError for anything else, possibly after some bins.
 */
export function readBins(
  bytes: Uint8Array,
  begin: number,
  end: number,
  take: (bin: number, count: number) => void,
): void {
  if (begin >= end || bytes[begin] !== formatVersion) throw new RangeError('not a latency sketch of this version')
  let at = begin + 1
  // Most numbers have one byte, and are read in place.
  const readRest = (first: number): number => {
    let value = first & 0x7f
    for (let weight = 0x80; ; weight *= 0x80) {
      const byte = bytes[at]
      at += 1
      if (byte === undefined || at > end || weight > 2 ** 49)
        throw new RangeError('a latency sketch ends inside a number')
      value += (byte & 0x7f) * weight
      if (byte < 0x80) return value
    }
  }
  let bin = 0
  while (at < end) {
    const first = bytes[at++] as number
    const head = first < 0x80 ? first : readRest(first)
    bin += Math.floor(head / 2)
    if (bin < 1 || bin > latencyBinMax) throw new RangeError(`a latency sketch has no bin ${bin}`)
    let count = 1
    if (head % 2 === 1) {
      if (at >= end) throw new RangeError('a latency sketch ends inside a number')
      const firstOfCount = bytes[at++] as number
      count = firstOfCount < 0x80 ? firstOfCount : readRest(firstOfCount)
    }
    take(bin, count)
  }
}
