import type { ApiResponse } from '../../api/api-client.ts'
import type { Filters } from './breakdown/dimensions.ts'
import type { Change } from './marked-changes.ts'
import type { Span } from './ranges.ts'

type Price = ApiResponse<'getPrices'>['prices'][number]

/**
 * Returns the changes of the tenant's price overrides inside a range, the earliest first. An unchanged price under a
 * new date is not a change. The end of a price is one, unless another price of the same platform and model follows.
 */
export function priceChangesOf(prices: readonly Price[], span: Span, filters: Filters): Change[] {
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

function changesOfOne(prices: readonly Price[]): Change[] {
  const ordered = prices
    .map((price) => ({ price, from: Date.parse(price.effective_from), until: Date.parse(price.effective_until ?? '') }))
    .sort((one, other) => one.from - other.from)
  return ordered.flatMap(({ price, from, until }, index) => {
    const [previous, next] = [ordered[index - 1], ordered[index + 1]]
    const continues = previous !== undefined && !(previous.until < from) && isSamePrice(previous.price, price)
    const ends = !Number.isNaN(until) && (next === undefined || next.from > until)
    return [...(continues ? [] : [from]), ...(ends ? [until] : [])].map((at) => ({ at, name: price.llm_model }))
  })
}

function isSamePrice(one: Price, other: Price): boolean {
  return one.input_usd_per_mtok === other.input_usd_per_mtok && one.output_usd_per_mtok === other.output_usd_per_mtok
}
