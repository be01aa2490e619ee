import { Attention } from './attention.tsx'
import { Breakdown } from './breakdown/breakdown.tsx'
import { LiveFeed } from './live-feed.tsx'
import type { useMetricsOverTime } from './use-metrics.ts'
import type { SearchState } from './use-search-state.ts'

interface BelowTheChartsProps {
  center: SearchState
  figures: ReturnType<typeof useMetricsOverTime>
}

/**
 * Shows the content below the metrics and charts: findings that need attention, the breakdown and the newest events.
 */
export default function BelowTheCharts({ center, figures }: BelowTheChartsProps) {
  return (
    <>
      <Attention center={center} figures={figures} />
      <Breakdown {...center} />
      <LiveFeed {...center} />
    </>
  )
}
