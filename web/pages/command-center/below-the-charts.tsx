import { Attention } from './attention.tsx'
import { Breakdown } from './breakdown.tsx'
import { LiveFeed } from './live-feed.tsx'
import type { Center } from './use-center.ts'

/** What is read after the figures and their charts. */
export default function BelowTheCharts(center: Center) {
  return (
    <>
      <Attention {...center} />
      <Breakdown {...center} />
      <LiveFeed {...center} />
    </>
  )
}
