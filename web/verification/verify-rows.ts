import { type AsyncCrypto, itemOfAnswer, type JsonObject, verifyRecords } from '../../provenance/index.ts'
import type { LogKeys } from './log-keys.ts'

/** Of one row: `undefined` in a map of them says that it was not looked at. */
export type RowVerdict = { verified: true } | { verified: false; because: string }

/** Each hash is made beside the page; what the page does itself for so many rows takes a few milliseconds. */
const pieceSize = 16

interface Options {
  tenant: string
  keys: LogKeys
  crypto: AsyncCrypto
  /** What each row has to be, beyond genuine: the filter it was found with. */
  fits(record: JsonObject): boolean
  onProgress(verdicts: ReadonlyMap<string, RowVerdict>): void
  signal: AbortSignal
}

/**
 * Verifies rows of a table, hash, place in the seal and signature of each, in pieces that leave the page responsive.
 * Whether their seals are in the log is for each record's own verification.
 *
 * @returns verdicts by record id; fewer than rows when it was called off
 */
export async function verifyRows(
  rows: readonly JsonObject[],
  { tenant, keys, crypto, fits, onProgress, signal }: Options,
): Promise<ReadonlyMap<string, RowVerdict>> {
  const verdicts = new Map<string, RowVerdict>()
  for (let at = 0; at < rows.length; ) {
    // Records of a seal stand together mostly, and share the check of its signature.
    const piece = rows.slice(at, at + pieceSize)
    at += pieceSize
    const results = await verifyRecords(piece.map(itemOfAnswer), keys.trusted, crypto)
    for (const [index, { verified, failures }] of results.entries()) {
      const row = piece[index]!
      const because = !verified
        ? failures.map(({ detail }) => detail).join('; ')
        : row.tenant_id !== tenant
          ? `it is of the tenant ${String(row.tenant_id)}`
          : fits(row)
            ? undefined
            : 'it is not what was filtered for'
      verdicts.set(String(row.record_id), because === undefined ? { verified: true } : { verified: false, because })
    }
    if (signal.aborted) return verdicts
    onProgress(new Map(verdicts))
    await pause()
  }
  return verdicts
}

/** Lets the page draw and answer. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
