import { expect } from 'vitest'
import type { RecordType } from '../../contract/literals.ts'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import { EventBus } from '../../server/event-bus.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { createErasure } from '../../server/modules/erasure/erasure-service.ts'
import type { ErasureJournal } from '../../server/modules/erasure/erasure-types.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { createEventReleases } from '../../server/modules/legal-holds/event-releases.ts'
import { createHoldCheck } from '../../server/modules/legal-holds/hold-check.ts'
import type { HoldJournal } from '../../server/modules/legal-holds/hold-journal-types.ts'
import { Holds } from '../../server/modules/legal-holds/holds-service.ts'
import { createRecordPurger } from '../../server/modules/records/purge-service.ts'
import { createRecordReading } from '../../server/modules/records/read-service.ts'
import { createRecordRelations } from '../../server/modules/records/relation-service.ts'
import { createRetentionPolicy } from '../../server/modules/retention/retention-policy.ts'
import { createRetentionPurge } from '../../server/modules/retention/retention-purge.ts'
import { createRetention } from '../../server/modules/retention/retention-service.ts'
import type { RecordDraft } from '../../server/modules/sealing/sealing-types.ts'
import { createVerificationPool } from '../../server/modules/verification/provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from '../../server/modules/verification/record-verifier.ts'
import { createTamperReporter } from '../../server/modules/verification/tamper-reporter.ts'
import { createErasedContentCheck } from '../../server/modules/verification/verification-module.ts'
import { createVerifiedEvents } from '../../server/modules/verification/verified-events.ts'
import { createRecordStore } from '../../server/record-modules.ts'
import { createRecordClock, type TimeSource } from '../../server/records/record-clock.ts'
import { createTestDatabase, type TestDatabaseOptions } from '../support/database.ts'
import { parsedReading, parsedRelations } from './parsed-reading.ts'

interface RecordLabOptions extends TestDatabaseOptions {
  time?: TimeSource
  now?: () => number
  /** Module that the verification threads run instead of the service's. */
  verificationEntry?: URL
}

/** The record services on a real database, without HTTP: for what takes many records or stored values edited by hand. */
export async function openRecordLab(options: RecordLabOptions = {}) {
  const test = await createTestDatabase(options)
  const { database, masterKey } = test
  const keys = new ProvenanceKeyRing({ database, masterKey })
  const log = {
    error: (details: object, message: string) => {
      // That is what many tests are about.
      if (message !== 'stored data was tampered with') console.error(message, details)
    },
    info: () => {},
    warn: () => {},
  }
  const erasureList: ErasureJournal = { keep: async () => {}, read: () => expect.unreachable() }
  const holdList: HoldJournal = {
    keep: async () => {},
    keepEnd: async () => {},
    read: () => expect.unreachable(),
  }
  const { verificationEntry: entry } = options
  const pool = createVerificationPool(entry ? { entry } : {})
  const verifiedEvents = createVerifiedEvents({ keys, pool })
  const holds = createHoldCheck(verifiedEvents)
  const retention = createRetentionPolicy({ verifiedEvents })
  const erasedContents = createErasedContentCheck(verifiedEvents)
  const check = createRecordVerifier({ keys, pool, holds, erasedContents })

  /** The services of a process: nothing is shared with another one but what is stored. */
  function openProcess(time?: TimeSource) {
    const store = createRecordStore({ database, keys, clock: createRecordClock(time), events: new EventBus() })
    const { sealer, writer } = store.records
    const governance = createGovernanceLog({ sealer, writer, events: new EventBus() })
    const now = options.now ? { now: options.now } : {}
    const tampering = createTamperReporter({ database, governance, check, log, ...now })
    const verification = createStoredVerification({ check, tampering })
    const shared = {
      ...store,
      database,
      keys,
      governance,
      tampering,
      verification,
      holds,
      retention,
      verifiedEvents,
      log,
    }
    const deps = { ...shared, cursorKey: Buffer.alloc(32, 7) }

    async function write(tenant: Tenant, ...drafts: Draft[]): Promise<string[]> {
      const batch = await sealer.seal(
        tenant,
        drafts.map((draft) => ({ createdBy: 'client-1', ...draft })),
      )
      await database.withTenant(tenant.slug, (tx) => writer.insert(tx, batch))
      return batch.records.map((record) => record.recordId)
    }

    /** Through the insert-only role, in batches of 1,000. */
    async function load(tenant: Tenant, count: number, draftOf: (index: number) => Draft): Promise<string[]> {
      const ids: string[] = []
      for (let start = 0; start < count; start += 1000) {
        const drafts = Array.from({ length: Math.min(1000, count - start) }, (_, i) => ({
          createdBy: 'client-1',
          ...draftOf(start + i),
        }))
        const batch = await sealer.seal(tenant, drafts)
        await database.ingest(tenant.slug, writer.copySteps(batch, undefined, true))
        for (const record of batch.records) ids.push(record.recordId)
      }
      return ids
    }

    return {
      ...store,
      write,
      load,
      governance,
      tampering,
      reading: parsedReading(createRecordReading(deps)),
      purger: createRecordPurger(deps),
      holds: new Holds({ ...deps, holdList }),
      releases: createEventReleases(deps),
      retention: createRetention(deps),
      erasure: createErasure({
        ...{ ...deps, erasureList, events: new EventBus() },
        overdue: createRetentionPurge(deps),
      }),
      relations: parsedRelations(createRecordRelations(deps)),
    }
  }

  const own = openProcess(options.time)
  const reporterOfAnotherProcess = (
    other: { waitingMax?: number; now?: () => number; log?: Pick<typeof log, 'error'> } = {},
  ) => createTamperReporter({ database, governance: own.governance, check, log, ...other })

  async function openTenant(slug: string): Promise<Tenant> {
    const key = await database.withTenant(slug, (tx) => keys.ensureKey(tx))
    return { slug, mode: 'A', baseUrl: 'http://hub.test', hasOwnAddress: false, logName: key.name }
  }

  return {
    ...test,
    ...own,
    keys,
    verifiedEvents,
    holdCheck: holds,
    retentionPolicy: retention,
    erasedContents,
    openProcess,
    reporterOfAnotherProcess,
    openTenant,
    drop: async () => {
      await pool.close()
      await test.drop()
    },
  }
}

export type RecordLab = Awaited<ReturnType<typeof openRecordLab>>

type Draft = Omit<RecordDraft, 'createdBy'> & { recordType: RecordType; createdBy?: string }

export function callerOf(tenant: Tenant, scopes: readonly Scope[] = scopeNames): Caller {
  return {
    subject: 'client-1',
    clientId: 'client-1',
    tokenId: 'token-1',
    tenant,
    scopes: new Set(scopes),
    address: '192.0.2.1',
    requestId: '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a',
  }
}

export function telemetry(index: number): Draft {
  return {
    recordType: 'telemetry_event',
    fields: {
      skill_id: `skill-${index % 7}`,
      skill_version: '1.0.0',
      archetype_id: `archetype-${index % 5}`,
      user_id: `user:u${index % 100}@example.com`,
      llm_platform: 'claude',
      llm_model: 'claude-sonnet-4-5',
      ts: '2026-01-01T00:00:00.000000Z',
      success: true,
      latency_ms: 100 + (index % 1000),
      tokens_in: 1000,
      tokens_out: 100,
      // Many records share an amount, so that paging by cost has ties to break.
      cost_usd_estimate: (index % 50) / 1000,
    },
  }
}

/** A decision with distinct content. */
export function decision(name: string, relatedRecords: string[] = []): Draft {
  return {
    recordType: 'decision',
    fields: {
      decision_id: name,
      decision_subject: 'subject',
      decision_outcome: 'approved',
      decision_rationale: 'because',
      decision_actor_role: 'lead',
    },
    relatedRecords,
  }
}
