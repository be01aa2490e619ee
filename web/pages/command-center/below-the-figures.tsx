import { Attention } from './attention.tsx'
import { Breakdown } from './breakdown.tsx'
import { FigureCharts, type FigureChartsProps } from './figure-charts.tsx'
import { LiveFeed } from './live-feed.tsx'
import type { Center } from './use-center.ts'

interface BelowTheFiguresProps {
  center: Center
  figures: Pick<FigureChartsProps, 'rows' | 'totals'>
}

/** What is read after the figures: charts, what needs attention, the breakdown and the newest events. */
export default function BelowTheFigures({ center, figures }: BelowTheFiguresProps) {
  return (
    <>
      <FigureCharts {...figures} span={center.range} filters={center.filters} interval={center.interval} />
      <Attention center={center} totals={figures.totals} />
      <Breakdown {...center} />
      <LiveFeed {...center} />
    </>
  )
}
