import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { addHubRoutes } from './hub-routes.ts'
import type { Records } from './hub-types.ts'
import { createIdempotency } from './idempotency-service.ts'
import type { Idempotency } from './idempotency-types.ts'
import { createRecordPurger } from './purge-service.ts'
import { createRecordReading } from './read-service.ts'
import { createRecordClock, type RecordClock, recordIdFloor } from './record-clock.ts'
import { readReceipts } from './record-receipts.ts'
import { createRecordSealer } from './record-sealer.ts'
import { createRecordWriter } from './record-writer-store.ts'
import { createRecordRelations } from './relation-service.ts'
import { createTamperReporter } from './tamper-reporter.ts'
import { createVerificationPool } from './verification-pool.ts'
import { createRecordWriting } from './write-service.ts'

/** Records and idempotency, which the modules that write records need before the Hub itself can be made. */
export interface RecordStore {
  clock: RecordClock
  records: Records
  idempotency: Idempotency
}

export interface HubModule {
  routes(app: FastifyInstance): void
  /** Ends threads, and resolves when the work that goes on after answers has ended; called before the database is closed. */
  settled(): Promise<void>
  /** A chore: forgets a part of what keeps reports of tampering to one a day, and answers whether there may be more. */
  forgetOldClaims(tx: TenantTx): Promise<boolean>
}

/** First of two steps: the governance log is made of the records, and the Hub's endpoints need the governance log. */
export function createRecordStore(deps: {
  database: Database
  keys: ProvenanceKeys
  clock?: RecordClock
}): RecordStore {
  const clock = deps.clock ?? createRecordClock()
  return {
    clock,
    records: {
      sealer: createRecordSealer({ keys: deps.keys, clock }),
      writer: createRecordWriter(),
      receipts: readReceipts,
      firstIdAt: recordIdFloor,
    },
    idempotency: createIdempotency(deps),
  }
}

export function createHubModule(
  deps: RecordStore & {
    database: Database
    keys: ProvenanceKeys
    masterKey: Buffer
    governance: GovernanceLog
    skills: SkillRegistry
    log: Pick<DatabaseLog, 'error'>
  },
): HubModule {
  const tampering = createTamperReporter(deps)
  const verification = createVerificationPool()
  const services = {
    reading: createRecordReading({
      ...deps,
      tampering,
      verification,
      cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose),
    }),
    writing: createRecordWriting(deps),
    purger: createRecordPurger(deps),
    relations: createRecordRelations(deps),
  }
  return {
    routes: (app) => addHubRoutes(app, services),
    forgetOldClaims: (tx) => tampering.forgetOldClaims(tx),
    settled: async () => {
      await verification.close()
      await tampering.settled()
    },
  }
}
