import { usdOfMicros } from '../../../../contract/money.ts'
import type { PriceBook } from '../prices/list-price-book.ts'
import type { ReadEvent } from '../stored-event.ts'
import { ratioOf } from '../summary/reconciliation-response.ts'
import type { CostException } from './exceptions-schemas.ts'
import type { ScannedRecord } from './exceptions-store.ts'

type Priced = ReadEvent & { computedMicros: number }

/** Returns the problem of an event's costs, or undefined. `tolerance` is in percent of the calculated cost. */
export function exceptionOf(
  stored: ScannedRecord,
  event: ReadEvent,
  book: PriceBook,
  tolerance: number,
): CostException | undefined {
  if (!isPriced(event)) return { ...factsOf(stored, event), kind: 'unpriced', reason: reasonOf(event, book) }
  if (!diverges(event, tolerance)) return undefined
  const { estimateMicros, computedMicros } = event
  const varianceMicros = estimateMicros - computedMicros
  const source = stored.rated ? stored.ratedSource : event.price_source
  return {
    ...factsOf(stored, event),
    cost_usd_computed: usdOfMicros(computedMicros),
    ...(source == null ? {} : { price_source: source }),
    kind: 'divergent',
    reason: `differs_by_more_than_${tolerance}_percent`,
    variance_usd: usdOfMicros(varianceMicros),
    ...(computedMicros === 0 ? {} : { variance_ratio: ratioOf(BigInt(varianceMicros), BigInt(computedMicros)) }),
  }
}

function isPriced(event: ReadEvent): event is Priced {
  return event.computedMicros !== undefined
}

function reasonOf({ llm_platform, llm_model, exactMs, tokens_in, tokens_out }: ReadEvent, book: PriceBook): string {
  if (llm_model === undefined) return 'no_model'
  return book.explain(llm_platform, llm_model, exactMs, tokens_in, tokens_out) ?? 'price_known_since'
}

/** Compares whole numbers: percent of micro-dollars in parts of a million. */
function diverges({ estimateMicros, computedMicros }: Priced, tolerance: number): boolean {
  const off = BigInt(Math.abs(estimateMicros - computedMicros))
  return off * 100_000_000n > BigInt(Math.round(tolerance * 1_000_000)) * BigInt(computedMicros)
}

function factsOf({ recordId }: ScannedRecord, event: ReadEvent) {
  const { ts, created_at, skill_id, archetype_id, user_id, llm_platform, llm_model, tokens_in, tokens_out } = event
  return {
    record_id: recordId,
    ...{ ts, created_at, skill_id, archetype_id, user_id, llm_platform },
    ...(llm_model === undefined ? {} : { llm_model }),
    ...{ tokens_in, tokens_out, cost_usd_estimate: usdOfMicros(event.estimateMicros) },
  }
}
