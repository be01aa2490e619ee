import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { roundUsd } from '../../../contract/money.ts'
import { repeatedRecords, unknownRecords } from '../../../contract/related-records.ts'
import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import { contentEncryptor } from '../../db/record-encryption.ts'
import type { Caller } from '../../http/caller.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { ClientEvents, WrittenEvent } from '../governance/governance-types.ts'
import type { Idempotency } from '../idempotency/idempotency-types.ts'
import type { RecordDraft, SealedRecord } from '../sealing/sealing-types.ts'
import type { RecordBody } from './record-body-schemas.ts'
import type { RecordReceipt, Records } from './records-types.ts'

interface WriteResult {
  receipt: RecordReceipt
  /** Whether this is the response to an earlier call with the same key. */
  replayed: boolean
}

export type RecordWriting = ReturnType<typeof createRecordWriting>

export function createRecordWriting(deps: {
  database: Database
  records: Records
  idempotency: Idempotency
  skills: SkillRegistry
  governance: ClientEvents
}) {
  const { database, records, idempotency, skills, governance } = deps

  async function requireReferences(tx: TenantTx, draft: RecordDraft): Promise<void> {
    await requireRelated(tx, records, draft.relatedRecords ?? [])
    if (draft.recordType === 'output') await requireSkill(tx, skills, String(draft.fields.skill_id))
  }

  async function register(tx: TenantTx, record: SealedRecord, fields: RecordDraft['fields']): Promise<void> {
    await skills.register(tx, {
      skillId: String(fields.skill_id),
      skillVersion: String(fields.skill_version),
      name: String(fields.name),
      recordId: record.recordId,
      registeredAt: record.createdAt,
    })
  }

  return {
    /** @param request.body the body as sent */
    async write(
      caller: Caller,
      request: { body: RecordBody; path: string; idempotencyKey: string | undefined },
    ): Promise<WriteResult> {
      const { body, path, idempotencyKey } = request
      const { tenant } = caller
      const draft = draftOf(body, caller.subject)
      const keyed = await idempotency.requestOf(tenant.slug, idempotencyKey, path, body as unknown as JsonValue)
      return idempotency.once<WriteResult>(
        keyed,
        async (claim) => {
          const sealed = tenant.mode === 'B' ? undefined : await records.sealer.seal(tenant, [draft])
          const record = await database.withTenant(tenant.slug, async (tx) => {
            // Checks the content key before anything else: without a key the tenant must not write content.
            const batch = sealed ?? (await records.sealer.seal(tenant, [draft], tx, await contentEncryptor(tx)))
            const record = batch.records[0]!
            await claim?.within(tx, { record_id: record.recordId })
            await requireReferences(tx, draft)
            if (draft.recordType === 'skill_definition') await register(tx, record, draft.fields)
            await records.writer.insert(tx, batch)
            if (draft.recordType === 'governance_event') {
              await governance.written(tx, tenant, eventOf(record, draft.fields))
            }
            return record
          })
          return { receipt: receiptOf(record), replayed: false }
        },
        async (answer) => {
          const { record_id } = answer as { record_id: string }
          const [receipt] = await readTenant(database, tenant.slug, (tx) => records.receipts(tx, [record_id]))
          if (receipt === undefined) throw recordNotFound(record_id)
          return { receipt, replayed: true }
        },
      )
    },
  }
}

function eventOf(record: SealedRecord, { event_kind, subject, details }: RecordDraft['fields']): WrittenEvent {
  return {
    ...record,
    kind: String(event_kind),
    subject: typeof subject === 'string' ? subject : undefined,
    details: isJsonObject(details) ? details : undefined,
  }
}

function draftOf(body: RecordBody, createdBy: string): RecordDraft {
  const { record_type, related_records = [], ...fields } = body
  const relatedRecords = related_records.map((id) => id.toLowerCase())
  requireDistinct(relatedRecords)
  if ('cost_usd_estimate' in fields && fields.cost_usd_estimate !== undefined) {
    fields.cost_usd_estimate = roundUsd(fields.cost_usd_estimate)
  }
  return { recordType: record_type, createdBy, fields: fields as Record<string, JsonValue>, relatedRecords }
}

function requireDistinct(ids: readonly string[]): void {
  const errors = repeatedRecords(ids)
  if (errors.length > 0) throw validationFailed(errors)
}

async function requireRelated(tx: TenantTx, records: Records, ids: readonly string[]): Promise<void> {
  const missing = await records.missing(tx, ids)
  if (missing.size > 0) throw validationFailed(unknownRecords(ids, (id) => !missing.has(id)))
}

async function requireSkill(tx: TenantTx, skills: SkillRegistry, skillId: string): Promise<void> {
  const state = await skills.stateOf(tx, skillId)
  if (state !== undefined && state !== 'retired') return
  throw new DomainError(
    'skill-not-registered',
    state === 'retired'
      ? `The skill ${skillId} has been retired.`
      : `The skill ${skillId} is not registered: write its skill_definition record first.`,
    { errors: [{ pointer: '/skill_id', detail: 'is not a registered skill' }] },
  )
}

function receiptOf(record: SealedRecord): RecordReceipt {
  return {
    record_id: record.recordId,
    provenance_hash: record.provenanceHash,
    provenance_cosign: record.provenanceCosign,
  }
}
