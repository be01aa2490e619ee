import type { ApiResponse } from '../../api/api-client.ts'
import type { Filters } from './breakdown/dimensions.ts'
import type { Span } from './ranges.ts'

type Price = ApiResponse<'getPrices'>['prices'][number]

interface PriceChange {
  /** Milliseconds since 1970. */
  at: number
  model: string
}

/**
 * Returns the changes of the tenant's price overrides inside a range, the earliest first. An unchanged price under a
 * new date is not a change. The end of a price is one, unless another price of the same platform and model follows.
 */
export function priceChangesOf(prices: readonly Price[], span: Span, filters: Filters): PriceChange[] {
  const { llm_platform, llm_model } = filters
  const relevant = prices.filter(
    (price) =>
      (llm_model === undefined || price.llm_model === llm_model) &&
      (llm_platform === undefined || price.llm_platform === undefined || price.llm_platform === llm_platform),
  )
  const series = Map.groupBy(relevant, (price) => `${price.llm_platform ?? ''} ${price.llm_model}`)
  return [...series.values()]
    .flatMap(changesOfOne)
    .filter(({ at }) => at > span.from && at < span.to)
    .sort((one, other) => one.at - other.at)
}

function changesOfOne(prices: readonly Price[]): PriceChange[] {
  const ordered = prices
    .map((price) => ({ price, from: Date.parse(price.effective_from), until: Date.parse(price.effective_until ?? '') }))
    .sort((one, other) => one.from - other.from)
  return ordered.flatMap(({ price, from, until }, index) => {
    const [previous, next] = [ordered[index - 1], ordered[index + 1]]
    const continues = previous !== undefined && !(previous.until < from) && isSamePrice(previous.price, price)
    const ends = !Number.isNaN(until) && (next === undefined || next.from > until)
    return [...(continues ? [] : [from]), ...(ends ? [until] : [])].map((at) => ({ at, model: price.llm_model }))
  })
}

function isSamePrice(one: Price, other: Price): boolean {
  return one.input_usd_per_mtok === other.input_usd_per_mtok && one.output_usd_per_mtok === other.output_usd_per_mtok
}

interface Slot {
  start: string
  label: string
}

/** Changes of one hour or day of a chart. */
export interface MarkedChange {
  /** The label of the hour or day. */
  label: string
  models: string[]
}

/** Assigns changes to their hours or days. */
export function markChanges(changes: readonly PriceChange[], slots: readonly Slot[]): MarkedChange[] {
  const starts = slots.map(({ start }) => Date.parse(start))
  const bySlot = Map.groupBy(changes, ({ at }) => starts.findLastIndex((start) => start <= at))
  return [...bySlot].flatMap(([index, found]) => {
    const label = slots[index]?.label
    return label === undefined ? [] : [{ label, models: [...new Set(found.map(({ model }) => model))] }]
  })
}

export function priceChangeText({ models }: MarkedChange): string {
  return models.length === 1 ? `Price of ${models[0]} changed` : `Prices of ${models.length} models changed`
}
