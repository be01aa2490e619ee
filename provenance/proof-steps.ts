import { equalBytes } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import type { JsonValue } from './json.ts'
import type { KeyRing } from './keys.ts'
import { inclusionRoot } from './merkle.ts'
import { isNoteSigned, parseNote } from './note.ts'
import type { SyncAsyncTask } from './sync-async-runner.ts'

/** A sentence, or undefined if no problem was found. */
export type Problem = string | undefined

/** Returns the problem with a signed note: no known key of the log signed it. */
export function* problemWithSignature(source: string, logName: string, keys: KeyRing): SyncAsyncTask<Problem> {
  const ofLog = [...keys.values()].filter((key) => key.name === logName)
  if (ofLog.length === 0) return `no key of the log ${logName} is known`
  const note = readOrProblem(() => parseNote(source))
  if (typeof note === 'string') return note
  return (yield* isNoteSigned(note, ofLog)) ? undefined : `no known key of the log ${logName} signed the note`
}

/** Returns the problem with an inclusion path: it is malformed, or does not lead to the root. */
export function* problemWithPath(
  { index, size, what, where }: { index: number; size: number; what: string; where: string },
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  root: Uint8Array,
): SyncAsyncTask<Problem> {
  try {
    const reached = yield* inclusionRoot(index, size, leaf, path)
    return equalBytes(reached, root) ? undefined : `${what} does not lead to the root of ${where}`
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return error.message
  }
}

/** Returns the result of `work`, or the message of its ProvenanceError. */
export function readOrProblem<Value>(work: () => Value): Value | string {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return error.message
  }
}

/** Returns true for a safe integer that is not negative. */
export function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Returns true for hashes as text. A tree has at most as many levels as a number has bits. */
export function isPath(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length <= 64 && value.every((hash) => typeof hash === 'string')
}

export type ProofFailure<Checks> = { readonly check: keyof Checks; readonly detail: string }

/** The result of verifying a proof bundle or a deletion certificate. */
export type ProofResult<Checks> = {
  readonly verified: boolean
  readonly checks: Checks
  /** One entry for each failed check. */
  readonly failures: readonly ProofFailure<Checks>[]
}

/** Returns the result of all checks, each with its problem. */
export function proofResult<Checks>(
  problems: readonly (readonly [keyof Checks & string, Problem])[],
): ProofResult<Checks> {
  const failures = problems.flatMap(([check, detail]) => (detail === undefined ? [] : [{ check, detail }]))
  const checks = Object.fromEntries(problems.map(([check, detail]) => [check, detail === undefined]))
  return { verified: failures.length === 0, checks: checks as Checks, failures }
}
