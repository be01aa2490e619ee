import { Anchor, Badge } from '@mantine/core'
import { combineQueries } from '../../components/combined-query.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatCount, formatPercent } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import { ErrorCodes } from './error-codes.tsx'
import { recentOf } from './ranges.ts'
import { failureRate, worseningOf } from './trends.ts'
import { type Keys, useMetricsByKey } from './use-metrics.ts'
import type { SearchState } from './use-search-state.ts'

/** Lists skills that began to fail, or fail much more than before. Ignores the filter by skill. */
export function FailingSkills({ center }: { center: SearchState }) {
  const { filters, range, isLive, change } = center
  const { skill_id: _, ...others } = filters
  const { recent, earlier, isPart } = recentOf(range)
  const asked = { filters: others, group: 'skill' as const }
  const now = useMetricsByKey({ ...asked, span: recent, live: isLive })
  const before = useMetricsByKey({ ...asked, span: earlier, enabled: now.isSuccess })
  return (
    <AttentionCard
      title="Newly failing"
      rule={`${isPart ? 'Last 48 hours against the days before' : 'Against the previous period'}: 3 failures or more after none, or twice the error rate and 5 points more.`}
    >
      <QueryBoundary query={combineQueries(now, before)} what="failures">
        {([figures, earlierFigures]) => {
          const items = failing(figures, earlierFigures).map(({ row, earlierRow, worsening }) => ({
            id: row.key ?? '',
            name: (
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => change({ skill_id: row.key, group_by: 'model' })}
              >
                {row.key}
              </Anchor>
            ),
            said: (
              <>
                <div>{`${formatPercent(failureRate(row))} failed (${formatCount(row.failures)} of ${formatCount(row.invocations)}), before ${earlierRow ? formatPercent(failureRate(earlierRow)) : 'not used'}`}</div>
                {row.key !== undefined && <ErrorCodes skillId={row.key} span={recent} filters={others} />}
              </>
            ),
            figure: (
              <Badge color="red" variant="light">
                {worsening === 'new' ? 'New' : 'Rising'}
              </Badge>
            ),
          }))
          return items.length === 0 ? (
            <AllWell>No skill fails more than before.</AllWell>
          ) : (
            <AttentionList items={items} />
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}

/** Returns the failing skills, those with the most failures first. */
function failing(now: Keys, before: Keys) {
  const earlier = new Map(before.rows.map((row) => [row.key, row]))
  return now.rows
    .map((row) => ({ row, earlierRow: earlier.get(row.key), worsening: worseningOf(row, earlier.get(row.key)) }))
    .filter(({ worsening }) => worsening !== undefined)
    .sort((one, other) => other.row.failures - one.row.failures)
}
