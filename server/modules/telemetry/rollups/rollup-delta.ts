import type { CountedEvent } from '../telemetry-types.ts'
import { latencyBinMax, latencyBinOf } from './latency-sketch.ts'
import type { Dimensions, Metrics } from './rollup-cells.ts'
import { quarterHourMs } from './rollup-types.ts'

/**
 * The text of hub.telemetry_deltas.entries, which one transaction adds to the rollups. A client waits for it, so the
 * format is fast: JSON, because nothing is faster here; each string once; one entry for each combination of dimensions
 * and quarter.
 */
interface Delta {
  v: typeof formatVersion
  /** The quarter from which those of entries count. */
  q: number
  /** The strings that entries refer to by index. */
  s: string[]
  e: Entry[]
}

/**
 * Skill, archetype, user, platform, model (-1: none), error code (-1: success), quarter; invocations, failures, tokens in, tokens out, reported
 * and calculated cost in micro-dollars, unpriced events; then the latency bin of each invocation. Several entries may
 * belong to one cell: a sum that exceeds an exact number continues in the next entry.
 */
type Entry = number[]

const formatVersion = 2
/** Entries of this version, which an earlier release wrote, lack the error code. */
const versionWithoutErrorCode = 1
/** Indexes in an entry. */
const at = {
  model: 4,
  errorCode: 5,
  quarter: 6,
  invocations: 7,
  failures: 8,
  tokensIn: 9,
  tokensOut: 10,
  estimate: 11,
  computed: 12,
  unpriced: 13,
}
const fixedLength = 14

/** Returns the quarter of a time; negative before 1970. */
export function quarterOf(epochMs: number): number {
  return Math.floor(epochMs / quarterHourMs)
}

export function deltaOf(events: readonly CountedEvent[]): string {
  const delta = emptyDelta(events[0]?.epochMs ?? 0)
  const places = new Map<string, number>()
  const table = new EntryTable(events.length)
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index] as CountedEvent
    const { costComputedMicros: computed } = event
    const fresh: Entry = [
      placeOf(delta, places, event.skillId),
      placeOf(delta, places, event.archetypeId),
      placeOf(delta, places, event.userId),
      placeOf(delta, places, event.platform),
      event.model === undefined ? -1 : placeOf(delta, places, event.model),
      event.errorCode === undefined ? -1 : placeOf(delta, places, event.errorCode),
      quarterOf(event.epochMs) - delta.q,
      1,
      event.errorCode === undefined ? 0 : 1,
      event.tokensIn,
      event.tokensOut,
      event.costEstimateMicros,
      computed ?? 0,
      computed === undefined ? 1 : 0,
      latencyBinOf(event.latencyMs),
    ]
    table.add(delta.e, fresh)
  }
  return JSON.stringify(delta)
}

/** A correction of a counted event: it adds no invocation. */
export interface CostDifference {
  skillId: string
  archetypeId: string
  userId: string
  platform: string
  model: string | undefined
  /** Undefined for an event that succeeded. */
  errorCode: string | undefined
  /** `ts` of the repriced event, in milliseconds. */
  epochMs: number
  /** Both members may be negative. */
  costComputedMicros: number
  unpriced: number
}

/** Returns the delta of a repricing as text. */
export function deltaOfDifferences(differences: readonly CostDifference[]): string {
  const delta = emptyDelta(differences[0]?.epochMs ?? 0)
  const places = new Map<string, number>()
  const table = new EntryTable(differences.length)
  for (const { skillId, archetypeId, userId, platform, model, errorCode, epochMs, ...changed } of differences) {
    const named = [skillId, archetypeId, userId, platform].map((name) => placeOf(delta, places, name))
    const modelPlace = model === undefined ? -1 : placeOf(delta, places, model)
    const errorPlace = errorCode === undefined ? -1 : placeOf(delta, places, errorCode)
    const counts = [0, 0, 0, 0, 0, changed.costComputedMicros, changed.unpriced]
    table.add(delta.e, [...named, modelPlace, errorPlace, quarterOf(epochMs) - delta.q, ...counts])
  }
  return JSON.stringify(delta)
}

function emptyDelta(epochMs: number): Delta {
  return { v: formatVersion, q: quarterOf(epochMs), s: [], e: [] }
}

function placeOf(delta: Delta, places: Map<string, number>, name: string): number {
  const known = places.get(name)
  if (known !== undefined) return known
  const place = delta.s.push(name) - 1
  places.set(name, place)
  return place
}

/** Finds the entry of the same cell by its seven numbers: an open-addressed table, several times as fast as a Map. */
class EntryTable {
  readonly #slots: (Entry | undefined)[]
  readonly #mask: number

  constructor(entriesMax: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * entriesMax + 1))
    this.#slots = new Array(size)
    this.#mask = size - 1
  }

  add(entries: Entry[], fresh: Entry): void {
    let slot = cellHash(fresh) & this.#mask
    for (;;) {
      const known = this.#slots[slot]
      if (known === undefined) break
      if (isSameCell(known, fresh)) {
        if (mergeEntry(known, fresh)) return
        break
      }
      slot = (slot + 1) & this.#mask
    }
    this.#slots[slot] = fresh
    entries.push(fresh)
  }
}

function cellHash(entry: Entry): number {
  let hash = 0
  for (let place = 0; place <= at.quarter; place += 1) hash = Math.imul(hash ^ (entry[place] as number), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

function isSameCell(a: Entry, b: Entry): boolean {
  for (let place = 0; place <= at.quarter; place += 1) if (a[place] !== b[place]) return false
  return true
}

/** Merges two entries; returns false, and changes nothing, if a sum would not be exact. */
function mergeEntry(known: Entry, fresh: Entry): boolean {
  for (let place = at.tokensIn; place <= at.computed; place += 1) {
    if (!Number.isSafeInteger((known[place] as number) + (fresh[place] as number))) return false
  }
  for (let place = at.invocations; place < fixedLength; place += 1) {
    known[place] = (known[place] as number) + (fresh[place] as number)
  }
  for (let place = fixedLength; place < fresh.length; place += 1) known.push(fresh[place] as number)
  return true
}

/** The text of a delta is not in the format of this version. A rebuild of the tenant's rollups replaces it. */
export class UnreadableDelta extends Error {
  override readonly name = 'UnreadableDelta'
}

/** An entry: its addition, and its cell of the view `all`. */
export interface DeltaEntry {
  quarter: number
  dimensions: Dimensions
  /** Adds the entry to the metrics of a cell. */
  addTo(metrics: Metrics): void
}

/**
 * Returns the entries of a delta; several may belong to one cell.
 *
 * @throws UnreadableDelta before the first entry, so that a delta counts as a whole or not at all
 */
export function readDelta(text: string): DeltaEntry[] {
  const delta = parseDelta(text)
  return delta.e.map((entry) => ({
    quarter: delta.q + (entry[at.quarter] as number),
    dimensions: {
      skill_id: delta.s[entry[0] as number] as string,
      archetype_id: delta.s[entry[1] as number] as string,
      user_id: delta.s[entry[2] as number] as string,
      llm_platform: delta.s[entry[3] as number] as string,
      llm_model: nameAt(delta, entry[at.model] as number),
      error_code: nameAt(delta, entry[at.errorCode] as number),
    },
    addTo: (metrics) => addEntry(metrics, entry),
  }))
}

function nameAt({ s }: Delta, place: number): string | null {
  return place === -1 ? null : (s[place] as string)
}

/** Returns the delta with names replaced, regardless of what they name, even in a delta of a newer version. */
export function renamedDelta(text: string, nameOf: ReadonlyMap<string, string>): string {
  try {
    const { s, ...rest } = parseDelta(text)
    return JSON.stringify({ ...rest, s: s.map((name) => nameOf.get(name) ?? name) })
  } catch (error) {
    if (!(error instanceof UnreadableDelta)) throw error
  }
  let renamed = text
  for (const [name, other] of nameOf) renamed = renamed.replaceAll(JSON.stringify(name), JSON.stringify(other))
  return renamed
}

function addEntry(metrics: Metrics, entry: Entry): void {
  metrics.invocations += entry[at.invocations] as number
  metrics.failures += entry[at.failures] as number
  metrics.tokensIn.add(entry[at.tokensIn] as number)
  metrics.tokensOut.add(entry[at.tokensOut] as number)
  metrics.costEstimate.add(entry[at.estimate] as number)
  metrics.costComputed.add(entry[at.computed] as number)
  metrics.unpriced += entry[at.unpriced] as number
  for (let place = fixedLength; place < entry.length; place += 1) metrics.latency.add(entry[place] as number)
}

function parseDelta(text: string): Delta {
  let delta: (Omit<Partial<Delta>, 'v'> & { v?: number }) | null
  try {
    delta = JSON.parse(text) as typeof delta
  } catch (cause) {
    throw new UnreadableDelta('a delta is not JSON', { cause })
  }
  if (delta?.v !== formatVersion && delta?.v !== versionWithoutErrorCode)
    throw new UnreadableDelta(`a delta of the version ${delta?.v}, not ${formatVersion}`)
  const { v, q, s } = delta
  const e = v === formatVersion ? delta.e : withErrorCodes(delta.e)
  if (!Number.isSafeInteger(q) || !Array.isArray(s) || !Array.isArray(e))
    throw new UnreadableDelta('a delta lacks parts')
  if (!s.every((name) => typeof name === 'string')) throw new UnreadableDelta('a delta has a name that is not a string')
  for (const entry of e) {
    if (!isEntry(entry, s.length)) throw new UnreadableDelta('a delta has an invalid entry')
  }
  return { v: formatVersion, q: q as number, s, e }
}

function withErrorCodes(entries: unknown): Entry[] | undefined {
  if (!Array.isArray(entries)) return undefined
  return entries.map((entry) => (Array.isArray(entry) ? entry.toSpliced(at.errorCode, 0, -1) : entry))
}

function isEntry(entry: unknown, names: number): entry is Entry {
  if (!Array.isArray(entry) || entry.length < fixedLength) return false
  for (let place = 0; place < entry.length; place += 1) if (!Number.isSafeInteger(entry[place])) return false
  for (let place = 0; place < at.quarter; place += 1) {
    const lowest = place === at.model || place === at.errorCode ? -1 : 0
    if (entry[place] < lowest || entry[place] >= names) return false
  }
  if (entry.length !== fixedLength + entry[at.invocations]) return false
  for (let place = fixedLength; place < entry.length; place += 1) {
    if (entry[place] < 1 || entry[place] > latencyBinMax) return false
  }
  return true
}

/**
 * Returns the entries of a delta; none if it is unreadable. Such a delta is in no visible value until the rollups are
 * rebuilt.
 */
export function readableEntries(text: string): DeltaEntry[] {
  try {
    return readDelta(text)
  } catch (error) {
    if (error instanceof UnreadableDelta) return []
    throw error
  }
}
