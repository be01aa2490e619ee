import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Answer, api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { Loaded } from '../../components/loaded.tsx'
import { formatCount, formatUsd } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import { isoOf, type Span } from './ranges.ts'
import type { Center } from './use-center.ts'
import { type Totals, varianceOf } from './use-figures.ts'

type CostException = Answer<'listCostExceptions'>['items'][number]

/** The newest are looked at, this many. */
const looked = 500
/** Senders' clocks may be ahead by this much. */
const aheadMs = 5 * 60_000

const reasons: Record<string, string> = {
  no_model: 'The events name no model',
  unknown_model: 'No price is known',
  no_price_at_ts: 'There are prices, but for other times',
  no_price_for_tokens: 'A kind of token has no price',
  price_known_since: 'There is a price now: rate them again',
  differs_by_more_than_2_percent: 'Senders are off by more than 2%',
}

/** Why the two costs differ: the newest events without a price or with two prices, by model and reason. */
export function CostExceptions({ filters, range, totals }: Pick<Center, 'filters' | 'range'> & { totals: Totals }) {
  const me = useMe()
  // The Hub lists them by when they were stored, which may be long after they happened.
  const query = { created_at__gte: isoOf(range.from - aheadMs), limit: looked, ...filters }
  const exceptions = api.useQuery(
    'get',
    '/api/v1/telemetry/reconciliation/exceptions',
    { params: { query } },
    { staleTime: 60_000 },
  )
  return (
    <AttentionCard
      title="Cost exceptions"
      rule={`Events of this range without a price, or with two costs that differ, among the ${looked} newest.`}
    >
      <Loaded query={exceptions} what="cost exceptions">
        {({ items, next_cursor }) => {
          const found = happenedIn(items, range)
          if (found.length === 0 && !next_cursor && totals.unpriced === 0) {
            return <AllWell>Every event of this range has a price, and senders agree with it.</AllWell>
          }
          return (
            <>
              {found.length > 0 ? (
                <AttentionList items={causesOf(found).map(causeItem)} />
              ) : (
                <Text size="sm">None of those looked at happened in this range.</Text>
              )}
              <Text size="xs" mt="xs">
                {`In all ${formatCount(totals.unpriced)} of the range have no price, and the variance is ${formatUsd(varianceOf(totals))}. `}
                {me.may('replacePrices') && totals.unpriced > 0 && (
                  <Anchor component={Link} to="/settings/prices" inherit underline="always">
                    Set prices
                  </Anchor>
                )}
              </Text>
            </>
          )
        }}
      </Loaded>
    </AttentionCard>
  )
}

/** Those that happened in a span. */
export function happenedIn<Event extends { ts: string }>(events: readonly Event[], { from, to }: Span): Event[] {
  return events.filter(({ ts }) => Date.parse(ts) >= from && Date.parse(ts) < to)
}

interface Cause {
  model: string
  reason: string
  events: CostException[]
}

/** The most events first. */
function causesOf(items: readonly CostException[]): Cause[] {
  const groups = Map.groupBy(items, ({ llm_model, reason }) => `${reason} ${llm_model ?? ''}`)
  return [...groups.values()]
    .flatMap((events) =>
      events[0] ? [{ model: events[0].llm_model ?? 'No model', reason: events[0].reason, events }] : [],
    )
    .sort((one, other) => other.events.length - one.events.length)
}

function causeItem({ model, reason, events }: Cause) {
  const off = events.reduce((sum, { variance_usd = 0 }) => sum + variance_usd, 0)
  const newest = events[0]
  return {
    id: `${reason} ${model}`,
    name: model,
    said: (
      <>
        {reasons[reason] ?? reason}
        {off !== 0 && `, together by ${formatUsd(off)}`}
        {newest && (
          <>
            {'. '}
            <Anchor component={Link} to={`/records/${newest.record_id}`} inherit underline="always">
              {`Newest of ${model}`}
            </Anchor>
          </>
        )}
      </>
    ),
    figure: <Text size="sm">{formatCount(events.length)}</Text>,
  }
}
