/**
 * Counts of latencies in bins that grow with the value, so that any two sketches add up to the sketch of both, and
 * every quantile is known within a relative error. Bins are log-linear, as in HdrHistogram: each doubling is cut into
 * 64 equal parts, which needs no logarithm; the guarantee is that of DDSketch (Masson, Rim, Lee: "DDSketch: A Fast and
 * Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019), with α = 1/128.
 */

const partBits = 6
const parts = 1 << partBits

/** The error of {@link LatencySketch.quantile} relative to the exact value, at most. Below 128 ms there is none. */
export const latencyErrorMax = 1 / 128

const latencyMsMax = 599_999
/** Of the longest latency that an event may have. */
export const latencyBinMax = latencyBinOf(latencyMsMax)

/** The bin of a whole number of milliseconds from 1 to 599,999. */
export function latencyBinOf(latencyMs: number): number {
  const shift = 31 - partBits - Math.clz32(latencyMs)
  return shift <= 0 ? latencyMs : shift * parts + (latencyMs >>> shift)
}

/** What a bin's latencies are taken for: the value whose relative error to both ends of the bin is the same. */
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
  /** Kept from one quantile to the next. */
  #order: readonly (readonly [bin: number, count: number])[] | undefined

  /** How many latencies it has counted. */
  get count(): number {
    return this.#count
  }

  /** Returns how many latencies each bin has, in any order. */
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
   * The shortest latency, in milliseconds and within {@link latencyErrorMax}, that a share q of all do not exceed: the
   * "nearest rank", percentile_disc of SQL. Undefined when nothing was counted.
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
   * A version byte, then the bins in order: twice the distance from the bin before, plus one if more than one latency
   * is in it; then, only in that case, their count. Numbers are LEB128.
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

  /** Adds what {@link toBytes} gave. Throws RangeError for anything else, and may have added a part of it then. */
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

/** Counts pass 2^32, so no bit operators. */
function pushNumber(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}

/**
 * Gives the bins of a sketch that {@link LatencySketch.toBytes} wrote, from `begin` to `end` of some bytes, and their
 * counts. Throws RangeError for anything else, when some bins may have been given already.
 */
export function readBins(
  bytes: Uint8Array,
  begin: number,
  end: number,
  take: (bin: number, count: number) => void,
): void {
  if (begin >= end || bytes[begin] !== formatVersion) throw new RangeError('not a latency sketch of this version')
  let at = begin + 1
  // Most numbers are of one byte, and are read in place.
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
