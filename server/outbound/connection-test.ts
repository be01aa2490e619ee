import { hostOf } from './address-guard.ts'
import type { Outbound } from './outbound.ts'

/** What trying a connection found. */
export interface ConnectionTestResult {
  /** Every step went well. */
  ok: boolean
  steps: TestStep[]
}

export interface TestStep {
  name: string
  ok: boolean
  /** In words: what was found, or what is wrong and what to do. No secret, nothing of the networks behind the Hub. */
  detail: string
}

/** A step that found what is wrong; the message says it. */
export class TestStepError extends Error {
  override readonly name = 'StepFailed'
}

/** Does one thing, and answers what it found. Throws {@link TestStepError}. */
export type Step = readonly [name: string, run: () => Promise<string> | string]

/** Does steps one after the other, up to the first that fails: those after it rest on it. */
export async function runConnectionTest(steps: readonly Step[]): Promise<ConnectionTestResult> {
  const done: TestStep[] = []
  let failed: string | undefined
  for (const [name, run] of steps) {
    if (failed !== undefined) {
      done.push({ name, ok: false, detail: `Not tried, because ${failed} failed.` })
      continue
    }
    try {
      done.push({ name, ok: true, detail: await run() })
    } catch (error) {
      if (!(error instanceof TestStepError)) throw error
      failed = name
      done.push({ name, ok: false, detail: error.message })
    }
  }
  return { ok: failed === undefined, steps: done }
}

/** Whether the Hub may call an address. @param what names it at the beginning of a sentence */
export function addressStep(outbound: Pick<Outbound, 'resolvedProblemOf'>, url: string, what: string): Step {
  return [
    'address',
    async () => {
      const problem = await outbound.resolvedProblemOf(url)
      if (problem !== undefined) throw new TestStepError(`${what} ${problem}.`)
      return `The Hub may connect to ${hostOf(new URL(url))}.`
    },
  ]
}
