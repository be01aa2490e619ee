import { ratingText } from '../../../db/adjustment-sums.ts'
import type { DatabaseLog, TenantTx } from '../../../db/database.ts'
import { isErased } from '../../../db/record-encryption.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { AdjustmentChange } from '../adjustments/adjustment-change.ts'
import { type CostDifference, deltaOfDifferences } from '../rollups/rollup-delta.ts'
import { eventsAfter } from '../rollups/rollup-rebuild-store.ts'
import { insertDelta } from '../rollups/rollup-store.ts'
import { errorCodeOf, type ReadEvent, readStoredEvent } from '../stored-event.ts'
import type { PriceBook } from './list-price-book.ts'
import { putRatings, type Rating, type RepricingRun } from './repricing-store.ts'
import type { RepricingRange } from './repricing-types.ts'

const eventsPerPart = 1000

/** The run after a part of it, and whether that was the last one. */
interface RatedPart {
  run: RepricingRun
  ended: boolean
  /** The ratings that were inserted and replaced. */
  change: AdjustmentChange
}

/**
 * Reprices the next events of a run at the prices of the book, under `lockRepricing`. Each event with another cost than
 * its last rating gets a new one, and the rollups get the difference, in the same transaction. So an interrupted or
 * repeated run changes nothing twice.
 */
export async function repricePart(
  tx: TenantTx,
  before: RepricingRun,
  {
    range,
    book,
    nowText,
    log,
  }: { range: RepricingRange; book: PriceBook; nowText: string; log: Pick<DatabaseLog, 'error'> },
): Promise<RatedPart> {
  const page = await eventsAfter(tx, before.position, eventsPerPart)
  const own = page.filter(({ recordId }) => recordId < before.until_id)
  const run = { ...before, position: own.at(-1)?.recordId ?? before.position }
  const ratings: Rating[] = []
  const replaced: string[] = []
  const differences: CostDifference[] = []
  let costBefore = BigInt(run.cost_before_micros)
  let costAfter = BigInt(run.cost_after_micros)
  const yieldIfLong = createEventLoopYielder()
  for (const stored of own) {
    const event = readStoredEvent(stored)
    if (!event) {
      // Its content was erased with its key as intended: it keeps its price, and needs no attention.
      if (isErased(tx, stored.canonical)) continue
      run.unreadable += 1
      const details = { tenant: tx.tenantId, recordId: stored.recordId }
      log.error(details, 'a record is not a readable telemetry event, so it keeps its price: verify it')
    } else if (event.ts >= range.from && event.ts < range.to) {
      const price = priceOf(book, event)
      run.checked += 1
      costBefore += BigInt(event.computedMicros ?? 0)
      costAfter += BigInt(price?.costMicros ?? 0)
      if (price?.costMicros !== event.computedMicros) {
        run.changed += 1
        ratings.push({ recordId: stored.recordId, price })
        if (stored.rated) replaced.push(ratingText(stored.recordId, stored.ratedMicros, stored.ratedSource))
        differences.push(differenceOf(event, price?.costMicros))
      }
    }
    await yieldIfLong()
  }
  const change = new AdjustmentChange(tx)
  if (ratings.length > 0) {
    await change.remove('ratings', replaced)
    await change.add(
      'ratings',
      ratings.map(({ recordId, price }) => ratingText(recordId, price?.costMicros ?? null, price?.source ?? null)),
    )
    await putRatings(tx, ratings, nowText)
    await insertDelta(tx, deltaOfDifferences(differences))
  }
  run.cost_before_micros = String(costBefore)
  run.cost_after_micros = String(costAfter)
  return { run, ended: own.length < eventsPerPart, change }
}

function priceOf(book: PriceBook, event: ReadEvent): Rating['price'] {
  const { llm_platform, llm_model, exactMs, tokens_in, tokens_out } = event
  return llm_model === undefined ? undefined : book.priceOf(llm_platform, llm_model, exactMs, tokens_in, tokens_out)
}

function differenceOf(event: ReadEvent, computedMicros: number | undefined): CostDifference {
  const isUnpriced = (micros: number | undefined) => (micros === undefined ? 1 : 0)
  return {
    skillId: event.skill_id,
    archetypeId: event.archetype_id,
    userId: event.user_id,
    platform: event.llm_platform,
    model: event.llm_model,
    errorCode: errorCodeOf(event),
    epochMs: event.epochMs,
    costComputedMicros: (computedMicros ?? 0) - (event.computedMicros ?? 0),
    unpriced: isUnpriced(computedMicros) - isUnpriced(event.computedMicros),
  }
}
