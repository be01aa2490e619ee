import { DomainError } from '../../../contract/domain-error.ts'
import type { Tenant } from '../../http/caller.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import { firstAccessCursor } from './access-sweep.ts'
import { firstHoldCursor } from './hold-sweep.ts'
import { firstId } from './record-scan.ts'
import type { SweepDeps, SweepSteps } from './sweep-steps.ts'
import type { ScanResult } from './sweep-types.ts'

/** Creates the full scan of a tenant, up to what was committed before. Background scans continue meanwhile. */
export function createFullScan(deps: Pick<SweepDeps, 'logs' | 'tampering'>, steps: SweepSteps) {
  return async (tenant: Tenant, options: { signal?: AbortSignal } = {}): Promise<ScanResult> => {
    const { signal } = options
    const swept: ScanResult = { checked: 0, failed: 0, inconsistent: 0 }
    const add = <Step extends ScanResult>(step: Step): Step => {
      signal?.throwIfAborted()
      swept.checked += step.checked
      swept.failed += step.failed
      swept.inconsistent += step.inconsistent
      return step
    }
    await integrateArrivals(deps, tenant)
    add(await steps.head(tenant))
    for (let round = { cursor: firstHoldCursor, isRoundOver: false }; !round.isRoundOver; )
      round = add(await steps.holds(tenant, round.cursor))
    for (let round = { cursor: firstAccessCursor, isRoundOver: false }; !round.isRoundOver; )
      round = add(await steps.access(tenant, round.cursor))
    for (let from: number | undefined = 0; from !== undefined; ) from = add(await steps.page(tenant, from)).next
    for (let after: string | undefined = firstId; after !== undefined; )
      after = add(await steps.scan(tenant, after)).next
    const figures = steps.figures(tenant, 'all')
    for (let isOver = false; !isOver; ) isOver = add(await figures()).isOver
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
