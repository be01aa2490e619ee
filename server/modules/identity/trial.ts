import type { Trial, TrialStep } from './trial-types.ts'

/** A step that found what is wrong; the message says it. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

/** Does one thing, and answers what it found. Throws {@link StepFailed}. */
export type Step = readonly [name: string, run: () => Promise<string> | string]

/** Does steps one after the other, up to the first that fails: those after it rest on it. */
export async function runTrial(steps: readonly Step[]): Promise<Trial> {
  const done: TrialStep[] = []
  let failed: string | undefined
  for (const [name, run] of steps) {
    if (failed !== undefined) {
      done.push({ name, ok: false, detail: `Not tried, because ${failed} failed.` })
      continue
    }
    try {
      done.push({ name, ok: true, detail: await run() })
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
      failed = name
      done.push({ name, ok: false, detail: error.message })
    }
  }
  return { ok: failed === undefined, steps: done }
}
