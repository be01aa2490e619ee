import type { TenantTx } from './db/database.ts'
import { createRowProofs } from './db/row-proofs.ts'
import type { ModuleParts } from './module-parts.ts'
import type { SkillRegistry } from './modules/entitlement/entitlement-types.ts'
import { createErasureModule } from './modules/erasure/erasure-module.ts'
import type { ErasureJournal } from './modules/erasure/erasure-types.ts'
import type { ClientEvents, GovernanceLog } from './modules/governance/governance-types.ts'
import { IdempotencyKeys } from './modules/idempotency/idempotency-service.ts'
import type { SweptFigures } from './modules/integrity-sweep/sweep-types.ts'
import { createSweeper } from './modules/integrity-sweep/sweeper.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from './modules/keys/keys-types.ts'
import { createHoldCheck } from './modules/legal-holds/hold-check.ts'
import { holdEvents } from './modules/legal-holds/hold-events.ts'
import type { HoldJournal } from './modules/legal-holds/hold-journal-types.ts'
import { createLegalHoldsModule } from './modules/legal-holds/legal-holds-module.ts'
import type { StoredCheckpoints } from './modules/log/log-types.ts'
import { logEntryRecords } from './modules/records/log-entry-records.ts'
import { readableRecords } from './modules/records/record-lookups.ts'
import { createRecords, createRecordsModule } from './modules/records/records-module.ts'
import { withUnavailable } from './modules/records/unavailable-content.ts'
import { createRetentionModule } from './modules/retention/retention-module.ts'
import { createRetentionPolicy } from './modules/retention/retention-policy.ts'
import { createRecordSealer } from './modules/sealing/record-sealer.ts'
import { sealedRecords } from './modules/sealing/sealed-records.ts'
import { createSearchModule } from './modules/search/search-module.ts'
import { createVerificationPool } from './modules/verification/provenance-check-pool.ts'
import { createVerificationModule } from './modules/verification/verification-module.ts'
import { createVerifiedEvents } from './modules/verification/verified-events.ts'

/** Creates the record store. The governance log needs the records, and the endpoints of records need that log. */
export function createRecordStore(deps: Pick<ModuleParts, 'database' | 'keys' | 'clock' | 'events'>) {
  const { clock, events } = deps
  const idempotency = new IdempotencyKeys({ ...deps, now: () => Math.floor(clock.next().micros / 1000) })
  // Stored responses name their records.
  events.onInTransaction('recordsErased', (tx, { records }) =>
    idempotency.eraseRecordCopies(
      tx,
      records.map((record) => record.record_id),
    ),
  )
  return {
    clock,
    records: createRecords({
      database: deps.database,
      sealer: createRecordSealer({ keys: deps.keys, clock }),
      clock,
      events,
    }),
    readable: readableRecords,
    idempotency,
    sealedRecords,
    loggedRecords: logEntryRecords,
  }
}

/** Creates the verification of stored records, which modules before the endpoints of records need. */
export function createRecordVerification(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'keys' | 'governance' | 'directory' | 'events' | 'log'>,
) {
  const pool = createVerificationPool()
  const verifiedEvents = createVerifiedEvents({ keys: deps.keys, pool })
  const holds = createHoldCheck(verifiedEvents)
  const module = createVerificationModule({ ...deps, pool, verifiedEvents, holds })
  const { tampering, reportFor } = module
  deps.database.useProofs(
    createRowProofs(deps.masterKey, (slug, subject, table) =>
      reportFor(slug, { subject, failedChecks: ['access_proven'], found: { table }, service: 'access' }),
    ),
  )
  deps.events.on('checkpointMismatch', ({ tenant, found }) => {
    const failedChecks = ['log_continues_kept_checkpoint']
    tampering.report(tenant, [{ subject: `log:${tenant.logName}`, failedChecks, found, service: 'checkpoints' }])
  })
  return {
    /** Verifies stored records, and reports those that fail. */
    stored: module.verification,
    ...{ verifiedEvents, holds, tampering, erasedContents: module.erasedContents },
    retention: createRetentionPolicy({ verifiedEvents }),
    /** Reports a price list that differs from the one in its signed event. */
    pricesUnproven(tenantId: string, eventId: string | undefined) {
      const finding = { subject: `prices:${tenantId}`, failedChecks: ['prices_proven'], service: 'prices' }
      reportFor(tenantId, { ...finding, found: { event: eventId ?? null } })
    },
    /** Stops threads. Resolves when background work has ended. Must be called before the database is closed. */
    settled: async () => {
      await pool.close()
      await tampering.settled()
    },
  }
}

/** Creates the modules about records in the order in which they depend on each other. */
export function createRecordModules(
  deps: ReturnType<typeof createRecordStore> &
    Pick<ModuleParts, 'database' | 'cursorKey' | 'events' | 'logs' | 'directory' | 'log'> & {
      keys: ProvenanceKeys & ProvenanceKeyAudit
      governance: GovernanceLog & ClientEvents
      verification: ReturnType<typeof createRecordVerification>
      skills: SkillRegistry
      erasureList: ErasureJournal
      holdList: HoldJournal
      /** Checkpoints with which the sweeper compares the logs; absent without checkpoint sinks. */
      storedCheckpoints?: StoredCheckpoints
      /** Aggregates that the sweeper recomputes. */
      figures: SweptFigures
    },
) {
  const { stored: verification, ...checks } = deps.verification
  const shared = { ...deps, ...checks, verification }
  const legalHolds = createLegalHoldsModule(shared)
  const retentionRules = createRetentionModule(shared)
  const records = createRecordsModule(shared)
  const search = createSearchModule({ ...shared, answerable: withUnavailable })
  const erasure = createErasureModule({ ...shared, overdue: retentionRules.overdue })
  return {
    routes(app: Parameters<typeof records.routes>[0]) {
      for (const module of [records, search, erasure, legalHolds, retentionRules]) module.routes(app)
    },
    /** Decides whether all content may be destroyed with its keys. */
    destruction: erasure.destruction,
    erasure: erasure.erasure,
    certificates: erasure.certificates,
    holdsAfterRestore: legalHolds.replay,
    searchIndexer: search.indexer,
    searchMatches: search.matches,
    sweeper: createSweeper({ ...shared, records: sealedRecords, holdEvents }),
    jobs: erasure.jobs,
    /** Deletes a part of the old claims that limit tamper reports to one a day. Returns whether there may be more. */
    deleteOldClaims: (tx: TenantTx) => shared.tampering.deleteOldClaims(tx),
  }
}
