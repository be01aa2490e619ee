import { concatBytes, fromBase64, toHex, utf8 } from '../../provenance/bytes.ts'
import {
  type AsyncCrypto,
  type Checkpoint,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  verifyNote,
} from '../../provenance/index.ts'
import { inclusionRoot } from '../../provenance/merkle.ts'
import { runAsync } from '../../provenance/sync-async-runner.ts'
import type { LogKeys } from './log-keys.ts'
import type { RecordFindings } from './record-steps.ts'
import type { Step } from './steps.ts'

/** The members of `GET /api/v1/hub/records/{id}/proof` that are verified; the others are the Hub's claims. */
export interface InclusionProof {
  log_index: number
  tree_size: number
  inclusion_path: readonly string[]
  checkpoint: string
}

/** A proof, or why it is absent: the Hub has no entry of the seal, or it did not respond. */
export type ProofResponse = { proof: InclusionProof } | { missing: 'no-entry' | 'no-answer'; because: string }

/**
 * A seal is in the log within a second (docs/provenance-log.md, section 10.1); after this many milliseconds it is overdue.
 */
const patienceMs = 5 * 60_000

export interface LogFindings {
  step: Step
  /** A signed state of the trusted log, if proven. */
  checkpoint: (Checkpoint & { note: string }) | undefined
}

/** Checks that the seal of the record is in the log: docs/provenance-log.md, section 10.3. */
export async function logStep(
  { sealNote, sealedAtMs }: RecordFindings,
  answer: ProofResponse,
  keys: LogKeys | undefined,
  crypto: AsyncCrypto,
  nowMs = Date.now(),
): Promise<LogFindings> {
  const is = (
    state: Step['state'],
    found: string,
    more: Partial<Step> = {},
    checkpoint?: LogFindings['checkpoint'],
  ) => ({
    step: { name: 'log', state, found, ...more } as const,
    checkpoint,
  })
  if ('missing' in answer) {
    if (answer.missing === 'no-answer') return is('unknown', `The Hub gave no proof: ${answer.because}`)
    return sealedAtMs !== undefined && nowMs - sealedAtMs > patienceMs
      ? is('failed', `The log has no entry for the seal, ${minutes(nowMs - sealedAtMs)} after it was made.`)
      : is('unknown', 'The log has not taken the seal in yet. That takes a second or so.')
  }
  if (!keys) return is('unknown', 'There are no keys to check the log with.')
  const { proof } = answer
  if (!isProof(proof)) return is('failed', 'The proof cannot be read: it has not the form of a proof.')
  try {
    const checkpoint = await signedCheckpoint(proof.checkpoint, keys, crypto)
    if (typeof checkpoint === 'string') return is('failed', checkpoint)
    const proven = { ...checkpoint, note: proof.checkpoint }
    if (sealNote === undefined)
      return is('unknown', 'Without a seal there is nothing to look for in the log.', {}, proven)
    const leaf = await crypto.sha256(concatBytes(Uint8Array.of(0), utf8(sealNote)))
    const path = proof.inclusion_path.map(fromBase64)
    const root = await runAsync(inclusionRoot(proof.log_index, proof.tree_size, leaf, path), crypto)
    const values = [
      { label: 'Leaf of the seal', value: toHex(leaf) },
      { label: 'Position', value: `${proof.log_index + 1} of ${checkpoint.treeSize}` },
      { label: 'Root from its path', value: toHex(root) },
      { label: 'Root that was signed', value: toHex(checkpoint.root) },
      { label: 'Signed state', value: proof.checkpoint },
    ]
    if (proof.tree_size !== checkpoint.treeSize || toHex(root) !== toHex(checkpoint.root))
      return is(
        'failed',
        'The seal does not lead to the signed root of the log: it is not the one there.',
        { values },
        proven,
      )
    const found = `The seal is entry ${(proof.log_index + 1).toLocaleString()} of ${checkpoint.treeSize.toLocaleString()} in the log, whose state is signed.`
    return is('passed', found, { values }, proven)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return is('failed', `The proof cannot be read: ${error.message}.`)
  }
}

/** Returns true for a well-formed proof: the Hub may return anything. */
function isProof(proof: InclusionProof | null): proof is InclusionProof {
  return (
    typeof proof?.checkpoint === 'string' &&
    Number.isSafeInteger(proof.log_index) &&
    Number.isSafeInteger(proof.tree_size) &&
    Array.isArray(proof.inclusion_path) &&
    proof.inclusion_path.every((hash) => typeof hash === 'string')
  )
}

/** Returns the signed checkpoint, or its problem as a string. Throws ProvenanceError if it is malformed. */
export async function signedCheckpoint(
  note: string,
  { logName, trusted }: LogKeys,
  crypto: AsyncCrypto,
): Promise<Checkpoint | string> {
  // The API's response may contain anything.
  if (typeof note !== 'string') return 'The Hub answered no state of the log.'
  const checkpoint = parseCheckpoint(note)
  if (checkpoint.logName !== logName) return `The state is of another log, ${checkpoint.logName}.`
  if (!(await verifyNote(parseNote(note), [...trusted.values()], crypto)))
    return 'No trusted key of this log signed the state of the log that the Hub shows.'
  return checkpoint
}

function minutes(ms: number): string {
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 3_600_000)} hours`
}
