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
 * Runs `ask` and returns the statements, hashes and comparisons of secrets that it took.
 *
 * @param statements grows by each statement that the service sends
 */
export async function workOf(statements: readonly string[], ask: () => Promise<unknown>): Promise<Work> {
  const work: Work = { statements: [], hashes: 0, comparisons: 0 }
  const { createHmac, hash, timingSafeEqual } = crypto
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
    hash: counted(hash as (...given: never[]) => unknown, () => (work.hashes += 1)),
    timingSafeEqual: counted(timingSafeEqual, () => (work.comparisons += 1)),
  })
  try {
    await ask()
  } finally {
    replace({ createHmac, hash, timingSafeEqual })
  }
  work.statements = askedStatements(statements.slice(before))
    // The addresses of tenants are read again from time to time, beside requests.
    .filter((text) => !/"base_url" is not null/.test(text))
    .map((text) => text.replace(/set_tenant\('[^']*'\)/, 'set_tenant(…)'))
  return work
}
