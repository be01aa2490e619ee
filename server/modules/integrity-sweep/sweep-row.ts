import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { Finding } from './sweep-types.ts'
import type { Lane, StoredSweep, SweepRow } from './sweeps-store.ts'

/** The stored progress of a scan mode, with findings if it is invalid. */
export interface SweepRead {
  /** The progress; reset if the stored one is not credible. */
  row: SweepRow
  findings: Finding[]
}

/**
 * Reads claimed progress. Values that no process can have written reset it and count as tampering, so that nobody can
 * mislead the sweeper.
 *
 * @param times `now`, the end of this claim, and the latest possible end of another process's claim
 */
export function readSweep(stored: StoredSweep, times: { now: string; until: string; claimedMax: string }): SweepRead {
  const { now, until, claimedMax } = times
  const lane = stored.lane as Lane
  const checks: Finding['failedChecks'] = []
  // Two times in the one text form compare as text; any other form is invalid.
  const { claimed_until } = stored
  if (claimed_until !== null && (!isTime(claimed_until) || claimed_until > claimedMax)) checks.push('sweep_claim_ends')
  const row = rowOf(stored, until)
  if (row === undefined) checks.push('sweep_readable')
  const found = { lane, claimed_until }
  return {
    row: row ?? {
      ...{ lane, log_index: 0, after_id: null, claimed_until: until, started_at: now, updated_at: now },
      ...{ finished_at: null, checked: 0, failed: 0 },
    },
    findings: checks.length === 0 ? [] : [{ subject: `sweep:${lane}`, failedChecks: checks, found }],
  }
}

function rowOf(stored: StoredSweep, claimed_until: string): SweepRow | undefined {
  const { lane, after_id, started_at, updated_at, finished_at } = stored
  const [log_index, checked, failed] = [stored.log_index, stored.checked, stored.failed].map(Number)
  const isReadable =
    [log_index, checked, failed].every((count) => Number.isSafeInteger(count) && count! >= 0) &&
    [started_at, updated_at].every(isTime) &&
    (finished_at === null || isTime(finished_at))
  if (!isReadable) return undefined
  return {
    ...{ lane, log_index: log_index!, after_id, claimed_until, started_at, updated_at, finished_at },
    ...{ checked: checked!, failed: failed! },
  }
}

function isTime(text: string): boolean {
  return parseTimestamp(text)?.text === text
}
