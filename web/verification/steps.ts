/** The steps of a record's verification, in their order. */
export const stepNames = ['record', 'hash', 'leaf', 'path', 'keys', 'signature', 'log', 'history'] as const

/** Of a record, or `checkpoint`: the newest state of the log, checked by itself. */
export type StepName = (typeof stepNames)[number] | 'checkpoint'

/** `unknown`: it could not be checked, or nothing follows from it before another step passes. */
export type StepState = 'passed' | 'failed' | 'unknown'

export interface Step {
  name: StepName
  state: StepState
  /** What was found, in a sentence or two. */
  found: string
  /** What was compared: long values are shown in full, to be copied. */
  values?: readonly { label: string; value: string }[] | undefined
}

export type Verdict = 'verified' | 'unproven' | 'tampered'

export interface Verification {
  verdict: Verdict
  steps: readonly Step[]
}

/** One failed step is enough to condemn; all have to pass to verify, and no steps verify nothing. */
export function verdictOf(steps: readonly Step[]): Verdict {
  if (steps.some(({ state }) => state === 'failed')) return 'tampered'
  return steps.length > 0 && steps.every(({ state }) => state === 'passed') ? 'verified' : 'unproven'
}
