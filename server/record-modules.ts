import type { JsonValue } from '../provenance/json.ts'
import type { Database, DatabaseLog, TenantTx } from './db/database.ts'
import { createRowProofs } from './db/row-proofs.ts'
import type { Tenant } from './http/caller.ts'
import { cursorKeyPurpose } from './http/cursor.ts'
import type { SkillRegistry } from './modules/entitlement/entitlement-types.ts'
import { createErasureModule } from './modules/erasure/erasure-module.ts'
import type { ErasureJournal, ErasureParticipant } from './modules/erasure/erasure-types.ts'
import type { ClientEvents, GovernanceLog } from './modules/governance/governance-types.ts'
import { idempotencyErasure } from './modules/idempotency/idempotency-erasure.ts'
import { createIdempotency } from './modules/idempotency/idempotency-service.ts'
import type { SweptFigures } from './modules/integrity-sweep/sweep-types.ts'
import { createSweeper } from './modules/integrity-sweep/sweeper.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from './modules/keys/keys-types.ts'
import { createHoldCheck } from './modules/legal-holds/hold-check.ts'
import { holdEvents } from './modules/legal-holds/hold-events.ts'
import type { HoldJournal } from './modules/legal-holds/hold-journal-types.ts'
import { createLegalHoldsModule } from './modules/legal-holds/legal-holds-module.ts'
import type { KeptCheckpoints, TenantLogs } from './modules/log/log-types.ts'
import { logEntryRecords } from './modules/records/log-entry-records.ts'
import { readableRecords } from './modules/records/record-lookups.ts'
import { createRecords, createRecordsModule } from './modules/records/records-module.ts'
import { createRetentionModule } from './modules/retention/retention-module.ts'
import { createRetentionPolicy } from './modules/retention/retention-policy.ts'
import { createRecordSealer } from './modules/sealing/record-sealer.ts'
import { sealedRecords } from './modules/sealing/sealed-records.ts'
import type { TenantDirectory } from './modules/tenants/tenants-types.ts'
import { createVerificationPool } from './modules/verification/provenance-check-pool.ts'
import { createVerificationModule } from './modules/verification/verification-module.ts'
import { createVerifiedEvents } from './modules/verification/verified-events.ts'
import { createRecordClock, type RecordClock } from './records/record-clock.ts'
import { deriveKey } from './secrets/encryption.ts'

/** Records and idempotency, which other modules need before the endpoints of records. */
export type RecordStore = ReturnType<typeof createRecordStore>

/** The modules about records: their endpoints, checks and background work. */
export type RecordModules = ReturnType<typeof createRecordModules>

/**
 * Creates the record store, the first of two steps: the governance log needs the records, and the endpoints of records
 * need the governance log.
 */
export function createRecordStore(deps: {
  database: Database
  keys: ProvenanceKeys
  clock?: RecordClock
  /** Receives the tenants whose transactions stored seals, after the commit. */
  sealed?: (tenantId: string) => void
}) {
  const { clock = createRecordClock(), sealed = () => {} } = deps
  return {
    clock,
    records: createRecords({ sealer: createRecordSealer({ keys: deps.keys, clock }), clock, sealed }),
    readable: readableRecords,
    idempotency: createIdempotency({ ...deps, now: () => Math.floor(clock.next().micros / 1000) }),
  }
}

/** Creates the modules about records in the order in which they depend on each other. */
export function createRecordModules(
  deps: RecordStore & {
    database: Database
    keys: ProvenanceKeys & ProvenanceKeyAudit
    masterKey: Buffer
    governance: GovernanceLog & ClientEvents
    skills: SkillRegistry
    logs: TenantLogs
    directory: TenantDirectory
    erasureList: ErasureJournal
    holdList: HoldJournal
    /** Checkpoints with which the sweeper compares the logs; absent without checkpoint sinks. */
    keptCheckpoints?: KeptCheckpoints
    /** Other participants that delete copies of erased records; known after all modules are created. */
    erasureParticipants: () => readonly ErasureParticipant[]
    /** Aggregates that the sweeper recomputes; known after all modules are created. */
    figures: () => SweptFigures
    log: DatabaseLog
  },
) {
  const { keys, masterKey } = deps
  const pool = createVerificationPool()
  const verifiedEvents = createVerifiedEvents({ keys, pool })
  const retention = createRetentionPolicy({ verifiedEvents })
  const holds = createHoldCheck(verifiedEvents)
  const shared = { ...deps, pool, verifiedEvents, retention, holds, cursorKey: deriveKey(masterKey, cursorKeyPurpose) }
  const legalHolds = createLegalHoldsModule(shared)
  const retentionRules = createRetentionModule(shared)
  const { verification, erasedContents, tampering, reportFor } = createVerificationModule(shared)
  deps.database.useProofs(
    createRowProofs(masterKey, (slug, subject, table) =>
      reportFor(slug, { subject, failedChecks: ['access_proven'], found: { table }, service: 'access' }),
    ),
  )
  const records = createRecordsModule({ ...shared, verification })
  const erasure = createErasureModule({
    ...{ ...shared, verification, overdue: retentionRules.overdue },
    erasureParticipants: () => [idempotencyErasure(deps.idempotency), ...deps.erasureParticipants()],
  })
  const sweeper = createSweeper({
    ...{ ...shared, records: sealedRecords, verification, tampering, erasedContents, holdEvents },
  })
  return {
    routes(app: Parameters<typeof records.routes>[0]) {
      for (const module of [records, erasure, legalHolds, retentionRules]) module.routes(app)
    },
    sealedRecords,
    loggedRecords: logEntryRecords,
    verification,
    /** Verified governance events. */
    verifiedEvents,
    /** Decides whether all content may be destroyed with its keys. */
    destruction: erasure.destruction,
    erasure: erasure.erasure,
    holdsAfterRestore: legalHolds.replay,
    sweeper,
    /** Reports a log that is inconsistent with a stored checkpoint. */
    logDisagreed(tenant: Tenant, found: Record<string, JsonValue>) {
      const failedChecks = ['log_continues_kept_checkpoint']
      tampering.report(tenant, [{ subject: `log:${tenant.logName}`, failedChecks, found, service: 'checkpoints' }])
    },
    /** Reports a price list that differs from the one in its signed event. */
    pricesUnproven(tenantId: string, eventId: string | undefined) {
      const finding = { subject: `prices:${tenantId}`, failedChecks: ['prices_proven'], service: 'prices' }
      reportFor(tenantId, { ...finding, found: { event: eventId ?? null } })
    },
    jobs: erasure.jobs,
    /** Deletes a part of the old claims that limit tamper reports to one a day. Returns whether there may be more. */
    forgetOldClaims: (tx: TenantTx) => tampering.forgetOldClaims(tx),
    /** Stops threads. Resolves when background work has ended. Must be called before the database is closed. */
    settled: async () => {
      await pool.close()
      await tampering.settled()
    },
  }
}
