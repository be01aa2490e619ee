import { DomainError } from '../../../contract/domain-error.ts'
import { usdOfMicros } from '../../../contract/money.ts'
import type { JsonValue } from '../../../provenance/index.ts'
import type { Database } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { RecordDraft, RecordReceipt, Records, SealedBatch } from '../hub/hub-types.ts'
import type { ClaimKey } from '../hub/idempotency-types.ts'
import type { PriceBook } from './prices.ts'
import type { SoundEvent } from './telemetry-types.ts'

/** Turns events into records and stores them. */
export interface EventWriter {
  /** Prices and seals; nothing is stored yet. */
  seal(caller: Caller, events: readonly SoundEvent[]): Promise<SealedBatch>
  /** One transaction: the key is claimed with `answer`, then the records go in. Returns once it has committed. */
  store(batch: SealedBatch, claim: ClaimKey, answer: JsonValue): Promise<void>
  /** Of stored records, in the order of the ids; those that are gone are left out. */
  receipts(tenant: Tenant, recordIds: readonly string[]): Promise<RecordReceipt[]>
}

export function createEventWriter(deps: { database: Database; records: Records; prices: PriceBook }): EventWriter {
  const { database, records, prices } = deps

  function draftOf(caller: Caller, event: SoundEvent): RecordDraft {
    return {
      recordType: 'telemetry_event',
      createdBy: caller.subject,
      fields: { ...event.fields, ...priceFields(prices, event) },
    }
  }

  return {
    seal: (caller, events) =>
      records.sealer.seal(
        caller.tenant,
        events.map((event) => draftOf(caller, event)),
      ),

    store: (batch, claim, answer) =>
      database.withIngest(batch.tenantId, async (tx) => {
        await claim(tx, answer)
        await records.writer.copy(tx, batch)
      }),

    receipts: (tenant, recordIds) =>
      database.withTenant(tenant.slug, (tx) => records.receipts(tx, recordIds), { readOnly: true }),
  }
}

/** Frozen on the event: a later catalogue changes nothing about it. */
function priceFields(prices: PriceBook, event: SoundEvent): Record<string, JsonValue> | undefined {
  if (event.model === undefined) return undefined
  const priced = prices.priceOf(event.platform, event.model, event.epochMs, event.tokensIn, event.tokensOut)
  return priced && { cost_usd_computed: usdOfMicros(priced.costMicros), price_source: priced.source }
}

export function receiptsOf(batch: SealedBatch): RecordReceipt[] {
  return batch.records.map((record) => ({
    record_id: record.recordId,
    provenance_hash: record.provenanceHash,
    provenance_cosign: record.provenanceCosign,
  }))
}

/** The record of a repeated request was deleted for good since. */
export function goneError(): DomainError {
  return new DomainError('not-found', 'The record that this Idempotency-Key stands for no longer exists.')
}
