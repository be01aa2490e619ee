import { type AsyncCrypto, itemOfAnswer, type JsonObject, verifyRecords } from '../../provenance/index.ts'
import type { LogKeys } from './log-keys.ts'
import { isPlain } from './plain-record.ts'

/** `isGone`: the content is gone with its key, as the Hub says, and nothing else is wrong. */
export type RowVerdict = { verified: true } | { verified: false; because: string; isGone?: boolean }

/**
 * What was found of each row that was looked at, by the row itself: the Hub may answer two of one id, of which one is
 * genuine.
 */
export type RowVerdicts = ReadonlyMap<object, RowVerdict>

/** Records of a seal stand together mostly, and share the check of its signature within a piece. */
const pieceSize = 16
/** So often what was found is told: each time the table is drawn anew. */
const progressEveryMs = 250

interface Options {
  tenant: string
  keys: LogKeys
  crypto: AsyncCrypto
  /** What each row has to be, beyond genuine: the filter it was found with. */
  fits(record: JsonObject): boolean
  onProgress(verdicts: RowVerdicts): void
  signal: AbortSignal
}

/**
 * Verifies rows of a table, hash, place in the seal and signature of each, in pieces that leave the page responsive.
 * Whether their seals are in the log is for each record's own verification.
 *
 * @returns fewer verdicts than rows when it was called off
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
    const results = await verifyRecords(piece.map(itemOfAnswer), keys.trusted, crypto)
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

/** What is wrong with a row that is genuine in itself; undefined where nothing is. */
function whyNot(row: JsonObject, tenant: string, twice: ReadonlySet<unknown>, fits: Options['fits']) {
  if (!isPlain(row)) return 'it has members that are not its own'
  if (row.tenant_id !== tenant) return `it is of the tenant ${String(row.tenant_id)}`
  if (twice.has(row.record_id)) return 'the Hub answered its id twice'
  try {
    if (fits(row)) return undefined
  } catch {
    // It has not even the form that filters look at.
  }
  return 'it is not what was filtered for'
}

function idsAnsweredTwice(rows: readonly JsonObject[]): ReadonlySet<unknown> {
  const seen = new Set<unknown>()
  return new Set(rows.map(({ record_id }) => record_id).filter((id) => seen.has(id) || !seen.add(id)))
}

/** Lets the page draw and answer. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
