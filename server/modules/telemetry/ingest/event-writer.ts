import { DomainError } from '../../../../contract/domain-error.ts'
import { usdOfMicros } from '../../../../contract/money.ts'
import type { JsonValue } from '../../../../provenance/index.ts'
import type { Database } from '../../../db/database.ts'
import { type IngestStep, IngestStepRefused } from '../../../db/ingest-script.ts'
import { contentKeyChanged } from '../../../db/record-encryption.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { Claim, Idempotency } from '../../idempotency/idempotency-types.ts'
import type { RecordReceipt, Records } from '../../records/records-types.ts'
import type { RecordDraft, SealedBatch } from '../../sealing/sealing-types.ts'
import type { PriceBook } from '../prices/list-price-book.ts'
import { exactMs } from '../prices/prices-arithmetic.ts'
import { deltaOf } from '../rollups/rollup-delta.ts'
import { deltaStep } from '../telemetry-store.ts'
import type { CountedEvent, ValidEvent } from '../telemetry-types.ts'
import { eventMembers } from './event-members.ts'
import { type InvocationOutbox, messageSteps } from './invocation-outbox.ts'

/** The events of one request, stored alone or together with other requests of the tenant. */
export interface Submission {
  caller: Caller
  events: readonly ValidEvent[]
  claim: Claim | undefined
  /** Returns the stored response for the idempotency key, given the receipts. */
  answerOf(receipts: readonly RecordReceipt[]): JsonValue
}

/** A submission could not claim its idempotency key, so nothing was stored. */
export class ClaimRefused extends Error {
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
   * If `patient`, a claim waits for the end of a transaction that holds it. Throws {@link ClaimRefused}, or the error
   * of the database; then nothing is stored.
   */
  store(tenant: Tenant, submissions: readonly Submission[], patient: boolean): Promise<RecordReceipt[][]>
  /** Returns receipts in id order; skips deleted records. */
  receipts(tenant: Tenant, recordIds: readonly string[]): Promise<RecordReceipt[]>
  /** Returns the ids that name no record of the tenant. */
  missing(tenant: Tenant, recordIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** An event with the values that the service derives. */
export interface RatedEvent {
  draft: RecordDraft
  counted: CountedEvent
}

export function createEventWriter(deps: {
  database: Database
  records: Records
  idempotency: Idempotency
  prices: { bookOf(tenantId: string): Promise<PriceBook> }
  invocationOutbox: InvocationOutbox
}): EventWriter {
  const { database, records, idempotency, prices, invocationOutbox } = deps

  return {
    async store(tenant, submissions, patient) {
      return storeUnderKey(tenant, submissions, patient, 0)
    },

    receipts: (tenant, recordIds) =>
      database.withTenant(tenant.slug, (tx) => records.receipts(tx, recordIds), { readOnly: true }),

    missing: (tenant, recordIds) =>
      database.withTenant(tenant.slug, (tx) => records.missing(tx, recordIds), { readOnly: true }),
  }

  /** @param repeats how often this process' content key was no longer the active one */
  async function storeUnderKey(
    tenant: Tenant,
    submissions: readonly Submission[],
    patient: boolean,
    repeats: number,
  ): Promise<RecordReceipt[][]> {
    const [book, watch] = await Promise.all([prices.bookOf(tenant.slug), invocationOutbox.watches.of(tenant.slug)])
    const rated = submissions.flatMap(({ caller, events }) => events.map((event) => rate(book, caller, event)))
    const isEncrypted = tenant.mode === 'B' && rated.length > 0
    const sealer = isEncrypted ? await database.contents.outside(tenant.slug, repeats > 0) : undefined
    const batch = await records.sealer.seal(
      tenant,
      rated.map(({ draft }) => draft),
      undefined,
      sealer,
    )
    const receipts = shareOut(batch, submissions)
    const claims = submissions.flatMap(({ claim, answerOf }, index) =>
      claim ? [{ index, request: claim.request, answer: answerOf(receipts[index]!) }] : [],
    )
    const claiming = idempotency.claimSteps(claims, patient)
    const steps: IngestStep[] = claiming.steps
    const outboxSteps = watch ? await messageSteps(invocationOutbox.outbox, watch, batch, rated, isEncrypted) : []
    if (rated.length > 0) {
      steps.push(...records.writer.copySteps(batch, sealer))
      // The id of a seal of this transaction names its delta.
      steps.push(deltaStep(tenant.slug, batch.seals[0]!.sealId, deltaOf(rated.map(({ counted }) => counted))))
      steps.push(...outboxSteps)
    }
    try {
      await database.ingest(tenant.slug, steps)
    } catch (error) {
      const isOfKey = error instanceof IngestStepRefused && error.code === contentKeyChanged
      if (isOfKey) {
        if (repeats < keyRepeatsMax) return storeUnderKey(tenant, submissions, patient, repeats + 1)
        throw new DomainError('hub-unavailable', 'The key of this tenant is being changed. Try again shortly.', {
          retryAfterSeconds: 1,
        })
      }
      const refused = error instanceof IngestStepRefused ? claiming.refused(error.step, error.code) : undefined
      throw refused ? new ClaimRefused(claims[refused.index]!.index, refused.inFlight) : error
    }
    if (outboxSteps.length > 0) invocationOutbox.outbox.queued(tenant.slug)
    return receipts
  }
}

/** Prices an event. The price is fixed on the event: a later price list does not change it. */
function rate(book: PriceBook, caller: Caller, event: ValidEvent): RatedEvent {
  const { skillId, archetypeId, userId, platform, model, epochMs, tokensIn, tokensOut, success, latencyMs } = event
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
      success,
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

function shareOut(batch: SealedBatch, submissions: readonly Submission[]): RecordReceipt[][] {
  let next = 0
  return submissions.map(({ events }) =>
    events.map(() => {
      const { recordId, provenanceHash, provenanceCosign } = batch.records[next++]!
      return { record_id: recordId, provenance_hash: provenanceHash, provenance_cosign: provenanceCosign }
    }),
  )
}
