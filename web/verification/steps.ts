/** The steps of a record's verification, in their order. */
export const stepNames = ['record', 'hash', 'leaf', 'path', 'keys', 'signature', 'log', 'history'] as const

/** A step of a record, or `checkpoint`: the newest state of the log, checked by itself. */
export type StepName = (typeof stepNames)[number] | 'checkpoint'

/** `unknown`: the step could not be checked, or proves nothing before another step passes. */
export type StepState = 'passed' | 'failed' | 'unknown'

export interface Step {
  name: StepName
  state: StepState
  /** The finding in a sentence or two. */
  found: string
  /** The compared values: long ones are shown in full, for copying. */
  values?: readonly { label: string; value: string }[] | undefined
}

export type Verdict = 'verified' | 'unproven' | 'tampered'

export interface Verification {
  verdict: Verdict
  steps: readonly Step[]
}

/** Returns the verdict: one failed step suffices to fail, all must pass to verify, and no steps verify nothing. */
export function verdictOf(steps: readonly Step[]): Verdict {
  if (steps.some(({ state }) => state === 'failed')) return 'tampered'
  return steps.length > 0 && steps.every(({ state }) => state === 'passed') ? 'verified' : 'unproven'
}
