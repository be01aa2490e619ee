import type { FastifyInstance } from 'fastify'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import { createRowProofs, type RefusalReport } from '../../db/row-proofs.ts'
import type { Tenant } from '../../http/caller.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { createRecordClock, recordIdFloor } from '../../records/record-clock.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { ClientEvents, GovernanceLog } from '../governance/governance-types.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys } from '../keys/keys-types.ts'
import type { KeptCheckpoints, TenantLogs } from '../log/log-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createDeletionCertificates } from './erasure/certificate-service.ts'
import { createDestructionRules } from './erasure/destruction-rules.ts'
import { hardDeleteJob } from './erasure/erasure-job.ts'
import { addErasureRoutes } from './erasure/erasure-routes.ts'
import { createErasure } from './erasure/erasure-service.ts'
import type { Erasure, ErasureJournal, ErasureParticipant } from './erasure/erasure-types.ts'
import { addHubRoutes } from './hub-routes.ts'
import type { ContentDestruction, ReadableRecords, Records } from './hub-types.ts'
import { idempotencyErasure } from './idempotency/idempotency-erasure.ts'
import { createIdempotency } from './idempotency/idempotency-service.ts'
import type { Idempotency } from './idempotency/idempotency-types.ts'
import type { Sweeper, SweptFigures } from './integrity-sweep/sweep-types.ts'
import { createSweeper } from './integrity-sweep/sweeper.ts'
import { createEventReleases } from './legal-holds/event-releases.ts'
import { createHoldCheck } from './legal-holds/hold-check.ts'
import { holdEvents } from './legal-holds/hold-events.ts'
import type { HoldJournal, HoldReplay } from './legal-holds/hold-journal-types.ts'
import { createHoldReplay } from './legal-holds/hold-replay.ts'
import { addHoldRoutes } from './legal-holds/holds-routes.ts'
import { createHolds } from './legal-holds/holds-service.ts'
import { addRecordStateRoutes } from './legal-holds/record-state-routes.ts'
import { createRecordStates } from './legal-holds/record-state-service.ts'
import { addReleaseRoutes } from './legal-holds/releases-routes.ts'
import { logEntryRecords } from './records/log-entry-records.ts'
import type { LogEntryRecords } from './records/log-entry-records-types.ts'
import { missingRecords } from './records/missing-records.ts'
import { createRecordPurger } from './records/purge-service.ts'
import { createRecordReading } from './records/read-service.ts'
import { readableRecords } from './records/readable-records.ts'
import { readReceipts } from './records/record-receipts.ts'
import { createRecordWriter } from './records/record-writer-store.ts'
import { createRecordRelations } from './records/relation-service.ts'
import { createRecordWriting } from './records/write-service.ts'
import { createRetentionPolicy } from './retention/retention-policy.ts'
import { createRetentionPurge } from './retention/retention-purge.ts'
import { addRetentionRoutes } from './retention/retention-routes.ts'
import { createRetention } from './retention/retention-service.ts'
import { createRecordSealer } from './sealing/record-sealer.ts'
import { sealedRecords } from './sealing/sealed-records.ts'
import type { SealedRecords } from './sealing/sealed-records-types.ts'
import { createErasedContentCheck } from './verification/erased-content-check.ts'
import { createVerificationPool } from './verification/provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from './verification/record-verifier.ts'
import { createTamperReporter } from './verification/tamper-reporter.ts'
import type { StoredVerification, TamperReporter, VerifiedEvents } from './verification/verification-types.ts'
import { createVerifiedEvents } from './verification/verified-events.ts'

/** Provides records and idempotency, which other modules need before the Hub is created. */
export interface RecordStore {
  clock: RecordClock
  records: Records
  readable: ReadableRecords
  idempotency: Idempotency
}

export interface HubModule {
  routes(app: FastifyInstance): void
  sealedRecords: SealedRecords
  loggedRecords: LogEntryRecords
  verification: StoredVerification
  /** Verified governance events. */
  verifiedEvents: VerifiedEvents
  /** Decides whether all content may be destroyed with its keys. */
  destruction: ContentDestruction
  erasure: Erasure
  holdsAfterRestore: HoldReplay
  sweeper: Sweeper
  /** Reports a log that is inconsistent with a stored checkpoint. */
  logDisagreed(tenant: Tenant, found: Record<string, JsonValue>): void
  /** Reports a price list that differs from the one in its signed event. */
  pricesUnproven(tenantId: string, eventId: string | undefined): void
  jobs: readonly JobDefinition[]
  /** Stops threads. Resolves when background work has ended. Must be called before the database is closed. */
  settled(): Promise<void>
  /** Deletes a part of the old claims that limit tamper reports to one a day. Returns whether there may be more. */
  forgetOldClaims(tx: TenantTx): Promise<boolean>
}

/**
 * Creates the record store, the first of two steps: the governance log needs the records, and the Hub's endpoints need
 * the governance log.
 */
export function createRecordStore(deps: {
  database: Database
  keys: ProvenanceKeys
  clock?: RecordClock
  /** Receives the tenants whose transactions stored seals, after the commit. */
  sealed?: (tenantId: string) => void
}): RecordStore {
  const { clock = createRecordClock(), sealed = () => {} } = deps
  return {
    clock,
    records: {
      sealer: createRecordSealer({ keys: deps.keys, clock }),
      writer: createRecordWriter(sealed),
      receipts: readReceipts,
      missing: missingRecords(clock),
      firstIdAt: recordIdFloor,
    },
    readable: readableRecords,
    idempotency: createIdempotency({ ...deps, now: () => Math.floor(clock.next().micros / 1000) }),
  }
}

export function createHubModule(
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
): HubModule {
  const pool = createVerificationPool()
  const verifiedEvents = createVerifiedEvents({ keys: deps.keys, pool })
  const retention = createRetentionPolicy({ verifiedEvents })
  const holds = createHoldCheck(verifiedEvents)
  const erasedContents = createErasedContentCheck(verifiedEvents)
  const check = createRecordVerifier({ keys: deps.keys, pool, holds, erasedContents })
  const tampering = createTamperReporter({ ...deps, check })
  const verification = createStoredVerification({ check, tampering })
  deps.database.useProofs(createRowProofs(deps.masterKey, reportRefusedRows({ ...deps, tampering })))
  const erasure = createErasure({
    ...deps,
    holds,
    overdue: createRetentionPurge({ ...deps, holds, policy: retention }),
    verification,
    erasureParticipants: () => [idempotencyErasure(deps.idempotency), ...deps.erasureParticipants()],
  })
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const releases = createEventReleases({ ...deps, retention, cursorKey })
  const services = {
    reading: createRecordReading({ ...deps, verification, cursorKey }),
    writing: createRecordWriting(deps),
    purger: createRecordPurger({ ...deps, holds, retention }),
    relations: createRecordRelations(deps),
  }
  return {
    routes: (app) => {
      addHubRoutes(app, services)
      addErasureRoutes(app, createDeletionCertificates(deps))
      addReleaseRoutes(app, releases)
      addHoldRoutes(app, createHolds({ ...deps, holds, retention, verifiedEvents, cursorKey }))
      addRecordStateRoutes(app, createRecordStates({ ...deps, holds }))
      addRetentionRoutes(app, createRetention({ ...deps, verifiedEvents }))
    },
    sealedRecords,
    loggedRecords: logEntryRecords,
    verification,
    verifiedEvents,
    destruction: createDestructionRules({ holds, retention }),
    erasure,
    holdsAfterRestore: createHoldReplay({ ...deps, holds, retention }),
    sweeper: createSweeper({
      ...{ ...deps, records: sealedRecords, verification, verifiedEvents, tampering },
      ...{ erasedContents, holdEvents, retention },
    }),
    logDisagreed(tenant, found) {
      const failedChecks = ['log_continues_kept_checkpoint']
      tampering.report(tenant, [{ subject: `log:${tenant.logName}`, failedChecks, found, service: 'checkpoints' }])
    },
    pricesUnproven(tenantId, eventId) {
      const report = async () => {
        const tenant = await deps.directory.find(tenantId, { evenSuspended: true })
        const finding = { subject: `prices:${tenantId}`, failedChecks: ['prices_proven'], service: 'prices' }
        if (tenant) tampering.report(tenant, [{ ...finding, found: { event: eventId ?? null } }])
      }
      // The next read of the list, or the sweeper, reports it again.
      report().catch((error: unknown) =>
        deps.log.error({ err: error, tenant: tenantId }, 'false prices were not reported'),
      )
    },
    jobs: [hardDeleteJob({ ...deps, erasure })],
    forgetOldClaims: (tx) => tampering.forgetOldClaims(tx),
    settled: async () => {
      await pool.close()
      await tampering.settled()
    },
  }
}

/** Reports refused rows that would have granted access. */
function reportRefusedRows(deps: {
  directory: TenantDirectory
  tampering: TamperReporter
  log: DatabaseLog
}): RefusalReport {
  return (slug, subject, table) => {
    const finding = { subject, failedChecks: ['access_proven'], found: { table }, service: 'access' }
    deps.directory.find(slug, { evenSuspended: true }).then(
      (tenant) => tenant && deps.tampering.report(tenant, [finding]),
      (err: unknown) => deps.log.error({ err, tenant: slug, subject }, 'tampering could not be reported'),
    )
  }
}
