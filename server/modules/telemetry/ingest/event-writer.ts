import { DomainError } from '../../../../contract/domain-error.ts'
import { usdOfMicros } from '../../../../contract/money.ts'
import { exactMs } from '../../../../contract/timestamp.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/index.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import { type IngestStep, IngestStepRejected } from '../../../db/ingest-script.ts'
import { contentKeyChanged } from '../../../db/record-encryption.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { Claim, Idempotency } from '../../idempotency/idempotency-types.ts'
import type { RecordReceipt, Records } from '../../records/records-types.ts'
import type { CommonMembers, RecordDraft, SealedBatch } from '../../sealing/sealing-types.ts'
import type { InvocationWatch, InvocationWatches, WebhookOutbox } from '../../webhooks/webhooks-types.ts'
import type { PriceBook } from '../prices/list-price-book.ts'
import { deltaOf } from '../rollups/rollup-delta.ts'
import { deltaStep } from '../telemetry-store.ts'
import type { CountedEvent, ValidEvent } from '../telemetry-types.ts'

/** The events of one request, stored alone or together with other requests of the tenant. */
export interface Submission {
  caller: Caller
  events: readonly ValidEvent[]
  claim: Claim | undefined
  /** Returns the stored response for each key of the claim, given the receipts. */
  responsesOf(receipts: readonly RecordReceipt[]): JsonValue[]
}

/** A submission could not claim its idempotency key, so nothing was stored. */
export class ClaimRejected extends Error {
  readonly index: number
  /** Whether a running transaction holds the key; otherwise the key is already in use. */
  readonly inFlight: boolean

  constructor(index: number, inFlight: boolean) {
    super('an Idempotency-Key could not be claimed')
    this.index = index
    this.inFlight = inFlight
  }
}

/** Maximum number of repeats, each after a key rotation between two statements. */
const keyRepeatsMax = 4

/** Turns events into records and stores them. */
export interface EventWriter {
  /**
   * Stores the events of all submissions of one tenant in one transaction: records, seals, claims, rollup deltas and
   * webhook messages. Returns the receipts of each submission after the commit.
   * If `patient`, a claim waits for the end of a transaction that holds it. Throws {@link ClaimRejected}, or the error
   * of the database; then nothing is stored.
   */
  store(tenant: Tenant, submissions: readonly Submission[], patient: boolean): Promise<RecordReceipt[][]>
  /** Returns receipts in id order; skips deleted records. */
  receipts(tenant: Tenant, recordIds: readonly string[]): Promise<RecordReceipt[]>
  /** Returns the ids that name no record of the tenant. */
  missing(tenant: Tenant, recordIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** An event with the values that the service derives. */
interface PricedEvent {
  draft: RecordDraft
  counted: CountedEvent
}

export function createEventWriter(deps: {
  database: Database
  records: Records
  idempotency: Idempotency
  prices: { bookOf(tenantId: string): Promise<PriceBook> }
  invocationOutbox: InvocationOutbox
  /** Called after the commit of a delta with this number of events. */
  deltaStored(tenantId: string, deltaId: string, events: number): void
}): EventWriter {
  const { database, records, idempotency, prices, invocationOutbox, deltaStored } = deps

  return {
    async store(tenant, submissions, patient) {
      return storeUnderKey(tenant, submissions, patient, 0)
    },

    receipts: (tenant, recordIds) => readTenant(database, tenant.slug, (tx) => records.receipts(tx, recordIds)),

    missing: (tenant, recordIds) => readTenant(database, tenant.slug, (tx) => records.missing(tx, recordIds)),
  }

  /** @param repeats how often this process' content key was no longer the active one */
  async function storeUnderKey(
    tenant: Tenant,
    submissions: readonly Submission[],
    patient: boolean,
    repeats: number,
  ): Promise<RecordReceipt[][]> {
    const [book, watch, isShort] = await Promise.all([
      prices.bookOf(tenant.slug),
      invocationOutbox.watches.of(tenant.slug),
      records.storesShortTexts(tenant.slug),
    ])
    const priced = submissions.flatMap(({ caller, events }) => events.map((event) => priceEvent(book, caller, event)))
    const isEncrypted = tenant.mode === 'B' && priced.length > 0
    const encryptor = isEncrypted ? await database.contents.outside(tenant.slug, repeats > 0) : undefined
    const batch = await records.sealer.seal(
      tenant,
      priced.map(({ draft }) => draft),
      undefined,
      encryptor,
    )
    const receipts = receiptsBySubmission(batch, submissions)
    const claims = submissions.flatMap(({ claim, responsesOf }, index) =>
      claim ? [{ index, requests: claim.requests, answers: responsesOf(receipts[index]!) }] : [],
    )
    const claiming = idempotency.claimSteps(claims, patient)
    const steps: IngestStep[] = claiming.steps
    const outboxSteps = watch ? await messageSteps(invocationOutbox.outbox, watch, batch, priced, isEncrypted) : []
    if (priced.length > 0) {
      steps.push(...records.writer.copySteps(batch, encryptor, isShort))
      // The id of a seal of this transaction names its delta.
      steps.push(deltaStep(tenant.slug, batch.seals[0]!.sealId, deltaOf(priced.map(({ counted }) => counted))))
      steps.push(...outboxSteps)
    }
    try {
      await database.ingest(tenant.slug, steps)
    } catch (error) {
      const isOfKey = error instanceof IngestStepRejected && error.code === contentKeyChanged
      if (isOfKey) {
        if (repeats < keyRepeatsMax) return storeUnderKey(tenant, submissions, patient, repeats + 1)
        throw new DomainError('hub-unavailable', 'The key of this tenant is being changed. Try again shortly.', {
          retryAfterSeconds: 1,
        })
      }
      const refused = error instanceof IngestStepRejected ? claiming.refused(error.step, error.code) : undefined
      throw refused ? new ClaimRejected(claims[refused.index]!.index, refused.inFlight) : error
    }
    if (outboxSteps.length > 0) invocationOutbox.outbox.queued(tenant.slug)
    if (priced.length > 0) deltaStored(tenant.slug, batch.seals[0]!.sealId, priced.length)
    return receipts
  }
}

/** Prices an event. The price is fixed on the event: a later price list does not change it. */
function priceEvent(book: PriceBook, caller: Caller, event: ValidEvent): PricedEvent {
  const { skillId, archetypeId, userId, platform, model, epochMs, tokensIn, tokensOut, errorCode, latencyMs } = event
  const price = model === undefined ? undefined : book.priceOf(platform, model, exactMsOf(event), tokensIn, tokensOut)
  const fields = price
    ? { ...event.fields, cost_usd_computed: usdOfMicros(price.costMicros), price_source: price.source }
    : event.fields
  return {
    draft: {
      recordType: 'telemetry_event',
      createdBy: caller.subject,
      fields,
      relatedRecords: event.relatedRecords,
      arrange: (common) => eventMembers(fields, common),
    },
    counted: {
      skillId,
      archetypeId,
      userId,
      platform,
      model,
      epochMs,
      errorCode,
      latencyMs,
      tokensIn,
      tokensOut,
      costEstimateMicros: event.costEstimateMicros,
      costComputedMicros: price?.costMicros,
    },
  }
}

/** Returns the time of `ts` with microseconds, its last three of six fractional digits. */
function exactMsOf({ epochMs, fields }: ValidEvent): number {
  return exactMs({ epochMs, microsOfMs: Number(String(fields.ts).slice(23, 26)) })
}

function receiptsBySubmission(batch: SealedBatch, submissions: readonly Submission[]): RecordReceipt[][] {
  let next = 0
  return submissions.map(({ events }) =>
    events.map(() => {
      const { recordId, provenanceHash, provenanceCosign } = batch.records[next++]!
      return { record_id: recordId, provenance_hash: provenanceHash, provenance_cosign: provenanceCosign }
    }),
  )
}

/**
 * Returns the canonical object of an event, with its members in the order of their names (RFC 8785, section 3.2.3).
 * Another order would give the same canonical text in twice the time.
 */
export function eventMembers(fields: JsonObject, common: CommonMembers): JsonObject {
  const members: Record<string, JsonObject[string]> = { archetype_id: fields.archetype_id! }
  if (fields.cost_usd_computed !== undefined) members.cost_usd_computed = fields.cost_usd_computed
  members.cost_usd_estimate = fields.cost_usd_estimate!
  members.created_at = common.created_at
  members.created_by = common.created_by
  if (fields.error_code !== undefined) members.error_code = fields.error_code
  members.latency_ms = fields.latency_ms!
  if (fields.llm_model !== undefined) members.llm_model = fields.llm_model
  members.llm_platform = fields.llm_platform!
  if (fields.metadata !== undefined) members.metadata = fields.metadata
  if (fields.parent_span_id !== undefined) members.parent_span_id = fields.parent_span_id
  if (fields.price_source !== undefined) members.price_source = fields.price_source
  members.record_id = common.record_id
  members.record_type = common.record_type
  members.related_records = common.related_records
  members.schema_version = common.schema_version
  if (fields.session_id !== undefined) members.session_id = fields.session_id
  members.skill_id = fields.skill_id!
  members.skill_version = fields.skill_version!
  if (fields.span_id !== undefined) members.span_id = fields.span_id
  members.success = fields.success!
  members.tenant_id = common.tenant_id
  members.tokens_in = fields.tokens_in!
  members.tokens_out = fields.tokens_out!
  if (fields.tokens_total_reported !== undefined) members.tokens_total_reported = fields.tokens_total_reported
  if (fields.trace_id !== undefined) members.trace_id = fields.trace_id
  members.ts = fields.ts!
  members.user_id = fields.user_id!
  return members
}

/** The wanted messages about invocations, and the outbox for them. */
export interface InvocationOutbox {
  watches: Pick<InvocationWatches, 'of'>
  outbox: Pick<WebhookOutbox, 'step' | 'queued'>
}

/** Limits a row, so that it is relayed at once, and written without delaying others. */
const messagesPerStep = 250

/**
 * Returns the messages about the events, in the order of the batch's records, as steps of the transaction that stores
 * them. Yields to the event loop.
 *
 * @param sealed whether the records are stored under a key of their tenant
 */
async function messageSteps(
  outbox: Pick<WebhookOutbox, 'step'>,
  watch: InvocationWatch,
  { tenantId, records }: SealedBatch,
  events: readonly PricedEvent[],
  sealed: boolean,
): Promise<IngestStep[]> {
  const yieldIfLong = createEventLoopYielder()
  const steps: IngestStep[] = []
  for (let from = 0; from < events.length; from += messagesPerStep) {
    const some = events.slice(from, from + messagesPerStep)
    const messages = watch.messagesOf(
      some.map(({ draft, counted: { skillId, archetypeId, userId } }, index) => ({
        ...{ recordId: records[from + index]!.recordId, createdAt: records[from + index]!.createdAt },
        fields: draft.fields,
        ...{ skillId, archetypeId, userId, sealed },
      })),
    )
    for (let at = 0; at < messages.length; at += messagesPerStep) {
      steps.push(outbox.step(tenantId, messages.slice(at, at + messagesPerStep)))
      await yieldIfLong()
    }
  }
  return steps
}
