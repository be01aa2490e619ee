import { SimpleGrid } from '@mantine/core'
import { CostExceptions } from './cost-exceptions.tsx'
import { FailingSkills } from './failing-skills.tsx'
import { UnusedSkills } from './unused-skills.tsx'
import { useMetricsByKey, type useMetricsOverTime } from './use-metrics.ts'
import type { SearchState } from './use-search-state.ts'

interface AttentionProps {
  center: SearchState
  figures: ReturnType<typeof useMetricsOverTime>
}

/** Lists failing skills, unused skills and cost exceptions. Unused skills ignore the filters of the page. */
export function Attention({ center, figures }: AttentionProps) {
  const { range, isLive } = center
  const asked = { filters: {}, group: 'skill' as const }
  const now = useMetricsByKey({ ...asked, span: range, live: isLive })
  const before = useMetricsByKey({ ...asked, span: range.before, enabled: now.isSuccess })
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="sm" mb="md" component="section" aria-label="Needs attention">
      <FailingSkills center={center} />
      <UnusedSkills now={now} before={before} />
      <CostExceptions {...center} figures={figures} />
    </SimpleGrid>
  )
}
