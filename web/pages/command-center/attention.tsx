import { SimpleGrid } from '@mantine/core'
import { CostExceptions } from './cost-exceptions.tsx'
import { FailingSkills } from './failing-skills.tsx'
import { UnusedSkills } from './unused-skills.tsx'
import { useFiguresByKey, type useFiguresOverTime } from './use-metrics.ts'
import type { Center } from './use-search-state.ts'

interface AttentionProps {
  center: Center
  figures: ReturnType<typeof useFiguresOverTime>
}

/** Lists failing skills, unused skills and cost exceptions. Unused skills ignore the filters of the page. */
export function Attention({ center, figures }: AttentionProps) {
  const { range, isLive } = center
  const asked = { filters: {}, group: 'skill' as const }
  const now = useFiguresByKey({ ...asked, span: range, live: isLive })
  const before = useFiguresByKey({ ...asked, span: range.before, enabled: now.isSuccess })
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="sm" mb="md" component="section" aria-label="Needs attention">
      <FailingSkills center={center} />
      <UnusedSkills now={now} before={before} />
      <CostExceptions {...center} figures={figures} />
    </SimpleGrid>
  )
}
