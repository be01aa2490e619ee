import { usdOfMicros } from '../../../../contract/money.ts'
import { exactMs, parseTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonObject } from '../../../../provenance/index.ts'
import type { Idempotency } from '../../idempotency/idempotency-types.ts'
import type { RecordReceipt } from '../../records/records-types.ts'
import type { PriceBook } from '../prices/list-price-book.ts'
import type { KeyedEvent, KeyedIngest } from '../telemetry-types.ts'
import type { GroupCommit } from './group-commit.ts'
import { type Catalogues, partitionByRejection, type ReferenceReader, readEvents } from './telemetry-catalogue.ts'
import type { TenantLive } from './tenant-live-service.ts'

/** Creates the ingest of events that have keys of their own, from senders that cannot send an Idempotency-Key. */
export function createKeyedIngest(deps: {
  idempotency: Idempotency
  catalogues: Catalogues
  references: ReferenceReader
  groups: GroupCommit
  prices: { bookOf(tenantId: string): Promise<PriceBook> }
  live: TenantLive
}): KeyedIngest {
  const { idempotency, catalogues, references: referenceReader, groups, prices, live } = deps

  return {
    async unregisteredSkills(tenant, skillIds) {
      const unknownIn = (states: ReadonlyMap<string, unknown>) => [...skillIds].filter((id) => !states.has(id))
      const unknown = unknownIn((await catalogues.of(tenant.slug)).skillStates)
      return unknown.length === 0 ? [] : unknownIn((await catalogues.fresh(tenant.slug)).skillStates)
    },

    async ingestKeyed(caller, keyed) {
      const { tenant } = caller
      const book = await prices.bookOf(tenant.slug)
      const events = keyed.map((each) =>
        each.event.cost_usd_estimate === undefined ? estimated(book, each) : each.event,
      )
      const readings = await readEvents(events, Date.now())
      const references = await referenceReader.of(tenant, readings)
      const { accepted, refused } = partitionByRejection(readings, references)
      const keys = accepted.map(({ index }) => keyed[index]!.key)
      let first: RecordReceipt | undefined
      const stored = await idempotency.onceEach(tenant.slug, keys, async (fresh, claim) => {
        const responsesOf = (receipts: readonly RecordReceipt[]) => receipts.map(({ record_id }) => ({ record_id }))
        const submitted = { caller, events: fresh.map((at) => accepted[at]!.event), claim, responsesOf }
        const receipts = await groups.store(tenant, submitted)
        first ??= receipts[0]
      })
      if (first) await live.ensure(caller, first.record_id)
      return { stored: stored.length, repeated: accepted.length - stored.length, refused }
    },
  }
}

/** Returns the event with the calculated cost as its estimate, which is 0 without a price. */
function estimated(book: PriceBook, { event }: KeyedEvent): JsonObject {
  const { llm_platform: platform, llm_model: model, tokens_in: tokensIn, tokens_out: tokensOut, ts } = event
  const time = typeof ts === 'string' ? parseTimestamp(ts) : undefined
  const isPriced = typeof model === 'string' && typeof tokensIn === 'number' && typeof tokensOut === 'number'
  const price = isPriced && time ? book.priceOf(String(platform), model, exactMs(time), tokensIn, tokensOut) : undefined
  return { ...event, cost_usd_estimate: usdOfMicros(price?.costMicros ?? 0) }
}
