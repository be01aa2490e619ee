import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Answer, api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { Loaded } from '../../components/loaded.tsx'
import { formatCount, formatUsd } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import { isoOf } from './ranges.ts'
import type { Center } from './use-center.ts'

type CostException = Answer<'listCostExceptions'>['items'][number]

const looked = 200

const reasons: Record<string, string> = {
  no_model: 'The events name no model',
  unknown_model: 'No price is known',
  no_price_at_ts: 'There are prices, but for other times',
  no_price_for_tokens: 'A kind of token has no price',
  price_known_since: 'There is a price now: rate them again',
  differs_by_more_than_2_percent: 'Senders are off by more than 2%',
}

/** Why the two costs differ: the newest events without a price or with two prices, by model and reason. */
export function CostExceptions({ filters, range }: Center) {
  const me = useMe()
  const query = { created_at__gte: isoOf(range.from), created_at__lt: isoOf(range.to), limit: looked, ...filters }
  const exceptions = api.useQuery(
    'get',
    '/api/v1/telemetry/reconciliation/exceptions',
    { params: { query } },
    { staleTime: 60_000 },
  )
  return (
    <AttentionCard
      title="Cost exceptions"
      rule={`Of the newest ${looked}: stored in this range without a price, or with two costs that differ.`}
    >
      <Loaded query={exceptions} what="cost exceptions">
        {({ items, next_cursor }) => (
          <>
            {items.length === 0 && !next_cursor ? (
              <AllWell>Every event has a price, and senders agree with it.</AllWell>
            ) : (
              <AttentionList items={causesOf(items).map(causeItem)} />
            )}
            {me.may('replacePrices') && items.some(({ kind }) => kind === 'unpriced') && (
              <Text size="xs" mt="xs">
                <Anchor component={Link} to="/settings/prices" inherit underline="always">
                  Set prices
                </Anchor>
              </Text>
            )}
          </>
        )}
      </Loaded>
    </AttentionCard>
  )
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
