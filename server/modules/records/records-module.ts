import type { FastifyInstance } from 'fastify'
import type { ModuleParts } from '../../module-parts.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { ClientEvents, GovernanceLog } from '../governance/governance-types.ts'
import type { Idempotency } from '../idempotency/idempotency-types.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import type { RecordSealer } from '../sealing/sealing-types.ts'
import type { StoredVerification } from '../verification/verification-types.ts'
import { createRecordPurger } from './purge-service.ts'
import { createRecordReading } from './read-service.ts'
import { missingRecords, readReceipts } from './record-lookups.ts'
import { createRecordWriter } from './record-writer-store.ts'
import { addRecordRoutes } from './records-routes.ts'
import type { Records } from './records-types.ts'
import { createRecordRelations } from './relation-service.ts'
import { createTextForm } from './text-form-store.ts'
import { createRecordWriting } from './write-service.ts'

/** Creates the record store, which the governance log needs. */
export function createRecords(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'events'> & { sealer: RecordSealer },
): Records {
  const { sealer, clock, events } = deps
  return {
    sealer,
    writer: createRecordWriter(events),
    storesShortTexts: createTextForm(deps.database),
    receipts: readReceipts,
    missing: missingRecords(clock),
  }
}

/** Creates the endpoints that write, read, purge and relate records. */
export function createRecordsModule(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'cursorKey'> & {
    records: Records
    idempotency: Idempotency
    skills: SkillRegistry
    governance: GovernanceLog & ClientEvents
    holds: HoldCheck
    retention: RetentionPolicy
    verification: StoredVerification
  },
) {
  const services = {
    reading: createRecordReading(deps),
    writing: createRecordWriting(deps),
    purger: createRecordPurger(deps),
    relations: createRecordRelations(deps),
  }
  return { routes: (app: FastifyInstance) => addRecordRoutes(app, services) }
}
