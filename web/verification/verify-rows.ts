import { type AsyncCrypto, itemOfResponse, type JsonObject, verifyRecords } from '../../provenance/index.ts'
import type { LogKeys } from './log-keys.ts'
import { isPlain } from './plain-record.ts'

/** The verdict of a row. `isGone`: the content was lost with its key, as the Hub states, and nothing else is wrong. */
export type RowVerdict = { verified: true } | { verified: false; because: string; isGone?: boolean }

/** The verdicts by row object: the Hub may return two rows of one id, only one of them genuine. */
export type RowVerdicts = ReadonlyMap<object, RowVerdict>

/** Number of rows in a chunk. Records of a seal are usually adjacent, and share one signature check within a chunk. */
const pieceSize = 16
/** Milliseconds between progress updates: each renders the table again. */
const progressEveryMs = 250

interface Options {
  tenant: string
  keys: LogKeys
  crypto: AsyncCrypto
  /** The check that each row must pass besides being genuine: the filter that found it. */
  fits(record: JsonObject): boolean
  onProgress(verdicts: RowVerdicts): void
  signal: AbortSignal
}

/**
 * Verifies rows of a table, each by hash, place in the seal and signature, in chunks that keep the page responsive. The
 * verification of a single record also checks that its seal is in the log.
 *
 * @returns fewer verdicts than rows if it was aborted
 */
export async function verifyRows(
  rows: readonly JsonObject[],
  { tenant, keys, crypto, fits, onProgress, signal }: Options,
): Promise<RowVerdicts> {
  const verdicts = new Map<object, RowVerdict>()
  const twice = idsAnsweredTwice(rows)
  let toldAt = performance.now()
  for (let at = 0; at < rows.length; at += pieceSize) {
    const piece = rows.slice(at, at + pieceSize)
    const results = await verifyRecords(piece.map(itemOfResponse), keys.trusted, crypto)
    for (const [index, { verified, failures }] of results.entries()) {
      const row = piece[index]!
      const because = verified
        ? whyNot(row, tenant, twice, fits)
        : failures.map(({ detail }) => detail).join('; ') || 'it cannot be verified'
      const isGone =
        failures.length === 1 &&
        failures[0]!.code === 'content-unavailable' &&
        whyNot(row, tenant, twice, fits) === undefined
      verdicts.set(row, because === undefined ? { verified: true } : { verified: false, because, isGone })
    }
    if (signal.aborted) return verdicts
    const now = performance.now()
    if (now - toldAt >= progressEveryMs || at + pieceSize >= rows.length) {
      toldAt = now
      onProgress(new Map(verdicts))
    }
    await pause()
  }
  return verdicts
}

/** Returns the problem of a row that is genuine by itself; undefined if there is none. */
function whyNot(row: JsonObject, tenant: string, twice: ReadonlySet<unknown>, fits: Options['fits']) {
  if (!isPlain(row)) return 'it has members that are not its own'
  if (row.tenant_id !== tenant) return `it is of the tenant ${String(row.tenant_id)}`
  if (twice.has(row.record_id)) return 'the Hub answered its id twice'
  try {
    if (fits(row)) return undefined
  } catch {
    // The row lacks the form that filters read.
  }
  return 'it is not what was filtered for'
}

function idsAnsweredTwice(rows: readonly JsonObject[]): ReadonlySet<unknown> {
  const seen = new Set<unknown>()
  return new Set(rows.map(({ record_id }) => record_id).filter((id) => seen.has(id) || !seen.add(id)))
}

/** Yields, so that the page can render and respond. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
