import { Box, Skeleton } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { lazy, Suspense, useMemo } from 'react'
import { api } from '../../api/api-client.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { type Budget, spendPoints, trendInterval } from './budget-points.ts'

// The chart library is larger than the rest of the page, and amounts come first.
const BudgetChart = lazy(() => import('./budget-chart.tsx'))

const height = 150

/** Shows the spent cost and the forecast over the period of a budget. It loads once it is in view. */
export function BudgetTrend({ budget }: { budget: Budget }) {
  const { ref, inViewport } = useInViewport()
  const { filter, period_start: from, period_end: to, time_zone } = budget
  const query = { ...filter, from, to, time_zone, interval: trendInterval(budget), limit: 1000 }
  const summary = api.useQuery(
    'get',
    '/api/v1/telemetry/summary',
    { params: { query } },
    { enabled: inViewport, staleTime: 60_000 },
  )
  const points = useMemo(() => spendPoints(budget, summary.data?.rows ?? [], Date.now()), [budget, summary.data])
  return (
    <Box ref={ref} mt="sm" mih={height}>
      <p className="visually-hidden">
        The chart shows the cost so far, and a line from it to the forecast. The amounts are above.
      </p>
      <QueryBoundary query={summary} what="cost over the period" skeleton={<Skeleton height={height} />}>
        {() => (
          <Suspense fallback={<Skeleton height={height} />}>
            <BudgetChart points={points} amount={budget.amount_usd} height={height} />
          </Suspense>
        )}
      </QueryBoundary>
    </Box>
  )
}
