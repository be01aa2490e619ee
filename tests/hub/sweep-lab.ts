import { DomainError } from '../../contract/domain-error.ts'
import type { Database } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createSweeper, type SweepPlan, sweepPlan } from '../../server/modules/integrity-sweep/sweeper.ts'
import { holdEvents } from '../../server/modules/legal-holds/hold-events.ts'
import { createRetentionPolicy } from '../../server/modules/retention/retention-policy.ts'
import { sealedRecords } from '../../server/modules/sealing/sealed-records.ts'
import { createTamperReporter } from '../../server/modules/verification/tamper-reporter.ts'
import { createErasedContentCheck } from '../../server/modules/verification/verification-module.ts'
import type { TestHub } from '../support/hub.ts'

/** Of a sweeper that does not wait: for tests. */
export const hasty: SweepPlan = {
  ...sweepPlan,
  passRate: 1_000_000,
  recentRate: 1_000_000,
  figureRate: 1_000_000,
  passEveryMs: 50,
  lookEveryMs: 50,
  newestFiguresEveryMs: 50,
  allFiguresEveryMs: 50,
  passesPerSecond: 1_000,
  looksPerSecond: 1_000,
  listEveryMs: 50,
  retryMs: { first: 50, max: 50 },
}

export interface AnotherSweeper {
  plan?: Partial<SweepPlan>
  /** Throws in its stead, before each transaction. */
  before?: (tenantId: string) => void
  tenants?: () => readonly string[]
  lines?: string[]
}

/** As another process on the same database has one. */
export function sweeperOf(hub: TestHub, { plan = {}, before = () => {}, tenants, lines = [] }: AnotherSweeper = {}) {
  const database: Database = {
    ...hub.test.database,
    withTenant(tenantId, work, mode) {
      before(tenantId)
      return hub.test.database.withTenant(tenantId, work, mode)
    },
  }
  const note = (_: object, message: string) => void lines.push(message)
  const log = { info: note, warn: note, error: note }
  const { modules } = hub
  const { verifiedEvents } = modules.verification
  const governance = {
    append: () => Promise.reject(new Error('no finding was expected')),
    appendAll: () => Promise.reject(new Error('no finding was expected')),
  }
  return createSweeper(
    {
      database,
      log,
      logs: modules.log.logs,
      keys: modules.keys.provenance,
      records: sealedRecords,
      verification: modules.verification.stored,
      verifiedEvents,
      erasedContents: createErasedContentCheck(verifiedEvents),
      holdEvents,
      retention: createRetentionPolicy({ verifiedEvents }),
      figures: { audit: modules.rollups.audit, prices: modules.telemetry.priceProof.read },
      tampering: createTamperReporter({
        database,
        governance,
        check: () => Promise.reject(new Error('no finding was expected')),
        log,
      }),
      clock: modules.recordStore.clock,
      directory: {
        find: (slug) => modules.tenants.directory.find(slug),
        slugs: async () => tenants?.() ?? modules.tenants.directory.slugs(),
      },
    },
    { ...hasty, ...plan },
  )
}

export const away = () => new DomainError('hub-unavailable', 'The database is away.', { retryAfterSeconds: 1 })

export interface LaneState {
  log_index: number
  after_id: string | null
  claimed_until: string | null
  finished_at: string | null
  checked: number
  failed: number
}

export async function laneOf(hub: TestHub, tenant: Tenant, lane: 'all' | 'recent'): Promise<LaneState | undefined> {
  return hub.test.database.withTenant(tenant.slug, (tx) =>
    tx.db
      .selectFrom('hub.sweeps')
      .select(['log_index', 'after_id', 'claimed_until', 'finished_at', 'checked', 'failed'])
      .where('tenant_id', '=', tx.tenantId)
      .where('lane', '=', lane)
      .executeTakeFirst(),
  )
}
