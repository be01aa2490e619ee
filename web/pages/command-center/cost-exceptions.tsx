import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { combineQueries } from '../../components/combined-query.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatCount, formatUsd } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import { costDifferenceOf } from './trends.ts'
import { type CostException, useExceptions } from './use-exceptions.ts'
import type { Totals, useMetricsOverTime } from './use-metrics.ts'
import type { SearchState } from './use-search-state.ts'

const reasons: Record<string, string> = {
  no_model: 'The events name no model',
  unknown_model: 'No price is known',
  no_price_at_ts: 'There are prices, but for other times',
  no_price_for_tokens: 'A kind of token has no price',
  prices_not_verified: 'The price list was changed in the database',
  price_known_since: 'There is a price now: rate them again',
  differs_by_more_than_2_percent: 'Reported and calculated cost differ by more than 2%',
}

interface CostExceptionsProps extends Pick<SearchState, 'filters' | 'range' | 'change'> {
  figures: ReturnType<typeof useMetricsOverTime>
}

/** Shows why the two costs differ: events without a price or with two prices, by model and reason. */
export function CostExceptions({ filters, range, change, figures }: CostExceptionsProps) {
  const me = useMe()
  const exceptions = useExceptions(range, filters)
  return (
    <AttentionCard title="Cost exceptions" rule="Events of this range without a price, or with two costs that differ.">
      <QueryBoundary query={combineQueries(exceptions, figures)} what="cost exceptions">
        {([{ items, complete }, { totals }]) => {
          if (items.length === 0 && complete && totals.unpriced === 0) {
            if (totals.invocations === 0) return <Text size="sm">No events in this range.</Text>
            return <AllWell>Every event of this range has a price, and both costs agree.</AllWell>
          }
          return (
            <>
              {items.length > 0 ? (
                <AttentionList items={causesOf(items).map((cause) => causeItem(cause, change))} />
              ) : (
                <Text size="sm">None of those looked at happened in this range.</Text>
              )}
              <Text size="xs" mt="xs">
                {[!complete && 'This list is not complete.', ...sumsOf(totals)].filter(Boolean).join(' ')}
              </Text>
              {me.may('replacePrices') && totals.unpriced > 0 && (
                <Anchor component={Link} to="/settings/prices" size="sm">
                  Set prices
                </Anchor>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}

/** Returns the sums of the range, without zeros. */
function sumsOf(totals: Totals): string[] {
  const { unpriced } = totals
  const difference = costDifferenceOf(totals)
  return [
    ...(unpriced ? [`${formatCount(unpriced)} ${unpriced === 1 ? 'event has' : 'events have'} no price.`] : []),
    ...(difference ? [`Difference: ${formatUsd(difference)}.`] : []),
  ]
}

interface Cause {
  /** Undefined if the events name no model. */
  model: string | undefined
  reason: string
  events: CostException[]
}

/** Returns the causes, those with the most events first. */
function causesOf(items: readonly CostException[]): Cause[] {
  const groups = Map.groupBy(items, ({ llm_model, reason }) => `${reason} ${llm_model ?? ''}`)
  return [...groups.values()]
    .flatMap((events) => (events[0] ? [{ model: events[0].llm_model, reason: events[0].reason, events }] : []))
    .sort((one, other) => other.events.length - one.events.length)
}

function causeItem({ model, reason, events }: Cause, change: SearchState['change']) {
  const off = events.reduce((sum, { variance_usd = 0 }) => sum + variance_usd, 0)
  const latest = events.at(-1)
  const name = model ?? 'No model named'
  return {
    id: `${reason} ${name}`,
    name:
      model === undefined ? (
        name
      ) : (
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={({ currentTarget }) => {
            // The list reloads, so the focus moves to its card.
            currentTarget.closest<HTMLElement>('[role="group"]')?.focus()
            change({ llm_model: model, group_by: 'skill', across: undefined })
          }}
        >
          {model}
        </Anchor>
      ),
    said: `${reasons[reason] ?? reason}${off === 0 ? '' : `, together by ${formatUsd(off)}`}`,
    figure: (
      <Stack gap={0} align="flex-end" flex="none">
        <Text size="sm">{`${formatCount(events.length)} ${events.length === 1 ? 'event' : 'events'}`}</Text>
        {latest && (
          <Anchor component={Link} to={`/records/${latest.record_id}`} size="xs" aria-label={`See one of ${name}`}>
            See one
          </Anchor>
        )}
      </Stack>
    ),
  }
}
