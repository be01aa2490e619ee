import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { askedStatements } from './asked-statements.ts'

/** Work of a request whose amount a stranger could tell by the time of the answer. */
export interface Work {
  statements: string[]
  hashes: number
  comparisons: number
}

/**
 * Runs `ask` and returns the statements, keyed hashes and comparisons of secrets that it took before its answer was
 * decided.
 *
 * @param statements grows by each statement that the service sends
 * @param settled waits for what goes on beside answers
 */
export async function workOf(
  statements: readonly string[],
  ask: () => Promise<unknown>,
  settled: () => Promise<unknown>,
): Promise<Work> {
  await settled()
  const work: Work = { statements: [], hashes: 0, comparisons: 0 }
  const { createHmac, timingSafeEqual } = crypto
  const counted = <Call extends (...given: never[]) => unknown>(call: Call, note: () => void) =>
    ((...given: Parameters<Call>) => {
      note()
      return call(...given)
    }) as unknown as Call
  const replace = (calls: object) => {
    Object.assign(crypto, calls)
    // Modules import these by name.
    syncBuiltinESMExports()
  }
  const before = statements.length
  replace({
    createHmac: counted(createHmac, () => (work.hashes += 1)),
    timingSafeEqual: counted(timingSafeEqual, () => (work.comparisons += 1)),
  })
  try {
    await ask()
  } finally {
    replace({ createHmac, timingSafeEqual })
  }
  const asked = askedStatements(statements.slice(before))
    // The addresses of tenants are read again from time to time, beside requests.
    .filter((text) => !/"base_url" is not null/.test(text))
    .map((text) => text.replace(/set_tenant\('[^']*'\)/, 'set_tenant(…)'))
  // Telling the tenant of a wrong secret begins once the refusal is decided, and the answer does not wait for it.
  const told = asked.findIndex((text) => text.startsWith('begin; '))
  work.statements = told < 0 ? asked : asked.slice(0, told)
  return work
}
