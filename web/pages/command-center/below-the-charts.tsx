import { Attention } from './attention.tsx'
import { Breakdown } from './breakdown.tsx'
import { LiveFeed } from './live-feed.tsx'
import type { useFiguresOverTime } from './use-metrics.ts'
import type { Center } from './use-search-state.ts'

interface BelowTheChartsProps {
  center: Center
  figures: ReturnType<typeof useFiguresOverTime>
}

/** What is read after the figures and their charts: what needs attention, the breakdown and the newest events. */
export default function BelowTheCharts({ center, figures }: BelowTheChartsProps) {
  return (
    <>
      <Attention center={center} figures={figures} />
      <Breakdown {...center} />
      <LiveFeed {...center} />
    </>
  )
}
