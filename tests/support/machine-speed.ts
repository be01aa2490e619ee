import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'

/** Environment variable that carries the factor from the process of vitest to its workers. */
const variable = 'TEST_TIMEOUT_FACTOR'
/** Wall-clock time of one round of {@link work} on the reference: two idle cores of 2.5 GHz. */
const referenceMs = 25
const referenceCores = 2
const rounds = 7
const factorMax = 20

/**
 * Measures how many times slower this machine is than the reference, between 1 and 20, and keeps the factor for the
 * processes that this one starts. A value of `TEST_TIMEOUT_FACTOR` in the environment replaces the measurement.
 */
export function measureTimeoutFactor(): number {
  process.env[variable] ??= String(measured())
  return timeoutFactor()
}

/** Returns a timeout for this machine, given the one for the reference. A timeout only ends what hangs. */
export const scaled = (ms: number): number => Math.round(ms * timeoutFactor())

/** Options of `vi.waitFor` and `expect.poll` for a condition that holds soon. */
export const patience = { timeout: scaled(30_000), interval: 20 } as const

/** Is 1 outside the test run, such as in the preview of the UI. */
function timeoutFactor(): number {
  return Math.min(factorMax, Math.max(1, Number(process.env[variable] ?? 1)))
}

/** Returns the median, since a single round may meet a pause of the machine. */
function measured(): number {
  const times = Array.from({ length: rounds }, () => {
    const beganMs = performance.now()
    work()
    return performance.now() - beganMs
  })
  const medianMs = times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? referenceMs
  const cores = Math.max(1, referenceCores / availableParallelism())
  return Math.round((medianMs / referenceMs) * cores * 10) / 10
}

/** Does a fixed amount of what the tests do most: JSON and SHA-256. */
function work(): void {
  const events = Array.from({ length: 200 }, (_, at) => ({
    at,
    skill_id: `skill-${at}`,
    tokens: [at, at * 2],
    ok: true,
  }))
  let text = JSON.stringify(events)
  for (let round = 0; round < 240; round += 1) {
    const digest = createHash('sha256').update(text).digest('hex')
    text = JSON.stringify([digest, ...(JSON.parse(text) as unknown[]).slice(-200)])
  }
}
