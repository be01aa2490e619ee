import { Text } from '@mantine/core'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import type { UsageGroup } from '../../components/usage-address.ts'
import { UsageLink } from '../../components/usage-link.tsx'
import { formatCount, formatPercent, formatUsd } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from '../command-center/attention-card.tsx'
import { dimensionOf, type Filters, shownKey } from '../command-center/breakdown/dimensions.ts'
import type { Span } from '../command-center/ranges.ts'
import { failureRate } from '../command-center/trends.ts'
import { useMetricsByKey } from '../command-center/use-metrics.ts'

const shown = 10

interface TopKeysProps {
  group: UsageGroup
  filters: Filters
  range: Span
}

/** Lists the skills, people, models or archetypes with the most invocations, each with a link to its page. */
export function TopKeys({ group, filters, range }: TopKeysProps) {
  const keys = useMetricsByKey({ span: range, filters, group })
  const { plural } = dimensionOf(group)
  return (
    <AttentionCard title={plural} rule="By invocations, the most first.">
      <QueryBoundary query={keys} what={plural.toLowerCase()}>
        {({ rows, complete }) => {
          const top = rows.toSorted((one, other) => other.invocations - one.invocations)
          return (
            <>
              {top.length === 0 && <AllWell>None.</AllWell>}
              <AttentionList
                items={top.slice(0, shown).map((row) => ({
                  id: row.key ?? '',
                  name: row.key === undefined ? shownKey(group, row.key) : <UsageLink group={group} id={row.key} />,
                  said: `${formatPercent(failureRate(row))} failed · ${formatUsd(row.cost_usd_estimate)}`,
                  figure: formatCount(row.invocations),
                }))}
              />
              {(top.length > shown || !complete) && (
                <Text size="xs" c="dimmed" mt="xs">
                  {complete ? `And ${formatCount(top.length - shown)} more.` : 'There are more.'}
                </Text>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}
