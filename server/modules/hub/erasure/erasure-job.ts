import { randomInt } from 'node:crypto'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Erasure } from './erasure-types.ts'

/** As often as it runs: what is left then, the next run goes on with. */
const secondsMax = 3600

/**
 * Hourly, and soon after a start: purges what is too old, then erases what was purged long enough ago. The tenants take
 * turns, a part at a time, and another one begins each time: neither one with very many records nor one that fails keeps
 * the others waiting. The job fails afterwards, so that it is tried again.
 *
 * @param deps.firstOf of so many tenants, which one begins
 */
export function hardDeleteJob(deps: {
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
