import { DomainError } from '../../../contract/domain-error.ts'
import type { Tenant } from '../../http/caller.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import { firstAccessCursor } from './access-sweep.ts'
import { firstHoldCursor } from './hold-sweep.ts'
import { firstId } from './record-scan.ts'
import type { SweepDeps, SweepSteps } from './sweep-steps.ts'
import type { ScanOptions, ScanResult } from './sweep-types.ts'
import type { Throttle } from './throttle.ts'

/**
 * Creates the full scan of a tenant, up to what was committed before. Background scans continue meanwhile.
 *
 * @param pace of all scans with `isPaced` together
 */
export function createFullScan(deps: Pick<SweepDeps, 'logs' | 'tampering'>, steps: SweepSteps, pace: Throttle) {
  return async (tenant: Tenant, { signal, isPaced }: ScanOptions = {}): Promise<ScanResult> => {
    const swept: ScanResult = { checked: 0, failed: 0, inconsistent: 0 }
    const unstopped = new AbortController().signal
    const add = async <Step extends ScanResult & { cost: number }>(step: Step): Promise<Step> => {
      if (isPaced) await pace.spend(step.cost, signal ?? unstopped)
      signal?.throwIfAborted()
      swept.checked += step.checked
      swept.failed += step.failed
      swept.inconsistent += step.inconsistent
      return step
    }
    await integrateArrivals(deps, tenant)
    await add(await steps.head(tenant))
    for (let round = { cursor: firstHoldCursor, isRoundOver: false }; !round.isRoundOver; )
      round = await add(await steps.holds(tenant, round.cursor))
    for (let round = { cursor: firstAccessCursor, isRoundOver: false }; !round.isRoundOver; )
      round = await add(await steps.access(tenant, round.cursor))
    for (let from: number | undefined = 0; from !== undefined; ) from = (await add(await steps.page(tenant, from))).next
    for (let after: string | undefined = firstId; after !== undefined; )
      after = (await add(await steps.scan(tenant, after))).next
    const figures = steps.figures(tenant, 'all')
    for (let isOver = false; !isOver; ) isOver = (await add(await figures())).isOver
    // Waits for the reports, so that a caller finds the events after the command.
    await deps.tampering.settled()
    return swept
  }
}

/** Integrates pending arrivals. A damaged log accepts none, and is scanned unchanged. */
async function integrateArrivals({ logs }: Pick<SweepDeps, 'logs'>, tenant: Tenant): Promise<void> {
  try {
    await logs.integrate(tenant)
  } catch (error) {
    if (!isLogCorruption(error) && !isCorruptionError(error)) throw error
  }
}

/** Returns whether an error is due to an edited log, as opposed to an unavailable database. */
function isLogCorruption(error: unknown): boolean {
  if (!(error instanceof DomainError) || error.slug !== 'internal') return false
  return error.cause instanceof Error && error.cause.name === 'LogCorruptionError'
}
