import { DomainError } from '../../../contract/domain-error.ts'
import { ProvenanceError } from '../../../provenance/index.ts'
import { readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { integrateArrivals, isSignedBy, UnknownSigner } from './log-integration.ts'
import { findEntries, findEntryOf, findHead, findHeadAndWaiting } from './log-store.ts'
import type { LogHead, TenantLogs } from './log-types.ts'
import { readConsistency, readInclusionPath, readLeaves, readRange, readRangeProof } from './tree-reading.ts'
import { LogCorruptionError } from './tree-tiles.ts'
import { findUncovered } from './uncovered-records-store.ts'

/** Maximum arrivals per transaction. With 1,000 telemetry events each, they take some hundred milliseconds. */
const arrivalsMax = 500

export function createTenantLogs(
  deps: Pick<ModuleParts, 'database' | 'keys' | 'clock' | 'events'>,
): TenantLogs & { hasArrivals(tenantId: string): Promise<boolean> } {
  const { database, keys, clock, events } = deps
  const turns = coalesceRuns<LogHead>()

  const look = (tenantId: string) => readTenant(database, tenantId, findHeadAndWaiting)

  async function integrateAll(tenant: Tenant): Promise<LogHead> {
    for (;;) {
      const { head, signed, more } = await integrateSome(tenant)
      if (more) continue
      if (signed) events.publish('headSigned', { tenant, head })
      return head
    }
  }

  async function integrateSome(tenant: Tenant) {
    const some = async (needed: readonly string[]) => {
      const knownKeys = await keys.publicKeysOf(tenant.slug, needed)
      return database.withTenant(tenant.slug, async (tx) => {
        const signer = await keys.signerOf(tenant.slug, tx)
        return integrateArrivals(tx, { tenant, signer, knownKeys, clock, arrivalsMax })
      })
    }
    try {
      return await some([])
    } catch (error) {
      if (!(error instanceof UnknownSigner)) throw error
    }
    try {
      // A key id that cannot exist forces a reload, because another process may have created a key.
      return await some([''])
    } catch (error) {
      if (error instanceof UnknownSigner) throw new LogCorruptionError('none of its keys signed its head')
      throw error
    }
  }

  async function integrate(tenant: Tenant): Promise<LogHead> {
    const { head, waiting } = await look(tenant.slug)
    if (head && !waiting && isSignedBy(head, await keys.signerOf(tenant.slug))) return head
    return turns(tenant.slug, () => integrateAll(tenant))
  }

  return {
    integrate: (tenant) => explained(integrate(tenant)),
    hasArrivals: async (tenantId) => (await look(tenantId)).waiting,
    head: findHead,
    entries: findEntries,
    entryOf: findEntryOf,
    inclusionPath: (tx, logIndex, treeSize) => explained(readInclusionPath(tx, logIndex, treeSize)),
    leaves: (tx, from, to) => explained(readLeaves(tx, from, to)),
    consistencyPath: async (tx, from, to) => (await explained(readConsistency(tx, from, to))).path,
    rangeProof: (tx, from, to, treeSize) => explained(readRangeProof(tx, from, to, treeSize)),
    range: readRange,
    uncovered: findUncovered,
  }
}

/** Returns whether the log itself is damaged, rather than unavailable. */
export function isLogCorruptionError(error: unknown): error is Error {
  return error instanceof ProvenanceError || (error instanceof DomainError && error.slug === 'internal')
}

/**
 * Converts log corruption into an `internal` error. The service signs nothing that contradicts its earlier signatures.
 */
export async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof LogCorruptionError)) throw error
    throw new DomainError(
      'internal',
      `The tenant's log was damaged: ${error.message}. Nothing is added to it until the operator has checked it with \`hub log audit\`.`,
      { cause: error },
    )
  }
}

/**
 * Coalesces calls of the same name made during a run into one following run. It begins after those calls, and all of
 * them get its result. So at most one run per name is active and one waits, regardless of the number of calls.
 */
function coalesceRuns<Result>(): (name: string, work: () => Promise<Result>) => Promise<Result> {
  interface Line {
    running: Promise<Result>
    waiting?: Promise<Result>
  }
  const lines = new Map<string, Line>()

  function begin(name: string, work: () => Promise<Result>): Promise<Result> {
    const line: Line = {
      running: work().finally(() => {
        // The following run replaces this line when it begins.
        if (line.waiting === undefined) lines.delete(name)
      }),
    }
    lines.set(name, line)
    return line.running
  }

  return (name, work) => {
    const line = lines.get(name)
    if (line === undefined) return begin(name, work)
    const next = () => begin(name, work)
    line.waiting ??= line.running.then(next, next)
    return line.waiting
  }
}
