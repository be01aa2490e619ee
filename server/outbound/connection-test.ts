import { hostOf } from './address-guard.ts'
import type { Outbound } from './outbound.ts'

/** The result of a connection test. */
export interface ConnectionTestResult {
  /** Whether every step succeeded. */
  ok: boolean
  steps: TestStep[]
}

export interface TestStep {
  name: string
  ok: boolean
  /** The finding, or the problem and its fix. It contains no secret and nothing about the networks behind the Hub. */
  detail: string
}

/** A step found a problem; the message describes it. */
export class TestStepError extends Error {
  override readonly name = 'TestStepError'
}

/** Does one thing and returns its finding. Throws {@link TestStepError}. */
export type Step = readonly [name: string, run: () => Promise<string> | string]

/** Runs steps in order, up to the first that fails, because later steps depend on it. */
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

/**
 * Returns the step that checks whether the Hub may call an address.
 *
 * @param what names the address at the beginning of a sentence
 */
export function addressStep(outbound: Pick<Outbound, 'resolvedProblemOf'>, url: string, what: string): Step {
  return [
    'address',
    async () => {
      const problem = await outbound.resolvedProblemOf(url)
      if (problem !== undefined) throw new TestStepError(`${what} ${problem}.`)
      return `The Hub can connect to ${hostOf(new URL(url))}.`
    },
  ]
}
