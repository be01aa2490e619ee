import { randomInt } from 'node:crypto'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { Erasure } from './erasure-types.ts'

/** Maximum run time in seconds, equal to the interval between runs. The next run continues with the rest. */
const secondsMax = 3600

/**
 * Purges records beyond their maximum retention, then erases records whose recovery period is over. Runs hourly and
 * soon after a start. Tenants take turns, one part at a time, and each run starts with another tenant, so neither a
 * very large tenant nor a failing one delays the others. The job fails at the end if a tenant failed, so that it is
 * retried.
 *
 * @param deps.firstOf chooses the index of the first tenant from the given count
 */
export function createErasureJob(deps: {
  erasure: Erasure
  directory: TenantDirectory
  firstOf?: (count: number) => number
}): JobDefinition {
  const { erasure, directory, firstOf = (count) => randomInt(count) } = deps

  async function* partsOf(slug: string, signal: AbortSignal): AsyncGenerator<unknown> {
    const tenant = await directory.find(slug, { evenSuspended: true })
    if (tenant) yield* erasure.parts(tenant, { signal })
  }

  return {
    name: 'hard-delete',
    cron: '37 * * * *',
    atStart: true,
    secondsMax,
    handler: async ({ signal }) => {
      const slugs = await directory.slugs()
      const first = slugs.length === 0 ? 0 : firstOf(slugs.length)
      let waiting = [...slugs.slice(first), ...slugs.slice(0, first)].map((slug) => partsOf(slug, signal))
      const failures: unknown[] = []
      while (waiting.length > 0) {
        const left: typeof waiting = []
        for (const parts of waiting) {
          if (signal.aborted) return
          try {
            const { done } = await parts.next()
            if (!done) left.push(parts)
          } catch (error) {
            failures.push(error)
          }
        }
        waiting = left
      }
      if (failures.length > 0) throw new AggregateError(failures, `the records of ${failures.length} tenants stayed`)
    },
  }
}
