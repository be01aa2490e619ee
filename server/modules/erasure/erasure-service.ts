import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../contract/domain-error.ts'
import { type DatabaseLog, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { RetentionPurge } from '../retention/retention-types.ts'
import { ErasurePart, type ErasurePartDeps, type ErasureRequest } from './erasure-part.ts'
import { type DueRecord, findDue, findStored } from './erasure-store.ts'
import type { Erased, Erasure, JournaledErasure } from './erasure-types.ts'
import { provenPurges } from './purge-verifier.ts'

/** Limits one transaction, so that it ends soon. */
const recordsMax = 500
const bytesMax = 16 * 1024 * 1024

/** Maximum number of records that a log line names. */
const loggedMax = 10

/** Maximum attempts for a part that conflicts with concurrent changes. */
const attemptsMax = 20
const pauseMsMax = 1000

export function createErasure(
  deps: ErasurePartDeps & Parameters<typeof provenPurges>[0] & { overdue: RetentionPurge; log: DatabaseLog },
): Erasure {
  const { database, clock, log } = deps
  const part = new ErasurePart(deps)

  function erase(tenant: Tenant, orders: readonly ErasureRequest[]): Promise<number> {
    return again(() => database.withTenant(tenant.slug, (tx) => part.erase(tx, tenant, orders)))
  }

  /** Yields after each transaction of erasures. */
  async function* parts(
    tenant: Tenant,
    { signal, asOf }: { signal?: AbortSignal; asOf?: string },
  ): AsyncGenerator<Erased> {
    const until = asOf ?? clock.next().createdAt
    const unproven: string[] = []
    let unprovenCount = 0
    for (let after: DueRecord | undefined; !signal?.aborted; ) {
      const found = await readTenant(database, tenant.slug, (tx) => findDue(tx, until, after, recordsMax), {
        inIndexOrder: true,
      })
      const due = fitting(found)
      if (due.length === 0) break
      after = due.at(-1)
      const proven = await provenPurges(deps, tenant, due)
      const provenIds = new Set(proven.map((record) => record.record_id))
      const lacking = due.filter((record) => !provenIds.has(record.record_id)).map((record) => record.record_id)
      unproven.push(...lacking.slice(0, loggedMax - unproven.length))
      unprovenCount += lacking.length
      const orders = proven.map(({ record_id, purged_at, event_id }) => ({
        recordId: record_id,
        purge: { purged_at, event_id, until, asOf },
      }))
      const erased = await erase(tenant, orders)
      yield { erased, held: due.length - erased }
    }
    if (unprovenCount > 0) {
      const details = { tenant: tenant.slug, records: unprovenCount, first: unproven }
      log.error(details, 'the purge of some records has no governance event, so they are not erased: verify them')
    }
  }

  return {
    purgeOverdue: deps.overdue.purge,

    async *parts(tenant, options = {}) {
      yield* deps.overdue.parts(tenant, options)
      yield* parts(tenant, options)
    },

    async run(tenant, options = {}) {
      const total = { erased: 0, held: 0 }
      for await (const { erased, held } of parts(tenant, options)) {
        total.erased += erased
        total.held += held
      }
      return total
    },

    async reapply(tenant, erasures) {
      let erased = 0
      for await (const some of partsOf(erasures, recordsMax)) {
        const kept = new Map(some.map((erasure) => [erasure.record_id, erasure]))
        const stored = await readTenant(database, tenant.slug, (tx) => findStored(tx, [...kept.keys()]))
        if (stored.size === 0) continue
        const done = await erase(
          tenant,
          [...stored].map((recordId) => ({ recordId, kept: kept.get(recordId)! })),
        )
        erased += done
        if (done < stored.size) {
          log.warn(
            { tenant: tenant.slug, records: stored.size - done },
            'records of the erasure journal are stored and remain, because a later legal hold covers them',
          )
        }
      }
      return erased
    },
  }
}

/** Returns the first records whose texts fit one transaction, at least one. */
function fitting(due: readonly DueRecord[]): DueRecord[] {
  let bytes = 0
  return due.filter((record, at) => {
    bytes += record.bytes
    return at === 0 || bytes <= bytesMax
  })
}

async function* partsOf(erasures: AsyncIterable<JournaledErasure>, count: number): AsyncIterable<JournaledErasure[]> {
  let part: JournaledErasure[] = []
  for await (const erasure of erasures) {
    part.push(erasure)
    if (part.length === count) {
      yield part
      part = []
    }
  }
  if (part.length > 0) yield part
}

/** Repeats work that fails with `concurrent-modification`, with a growing delay. */
async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const isBusy = error instanceof DomainError && error.slug === 'concurrent-modification'
      if (!isBusy || attempt === attemptsMax) throw error
      await delay(Math.random() * Math.min(pauseMsMax, attempt * 50))
    }
  }
}
