import { Anchor, Badge } from '@mantine/core'
import { type LoadableQuery, Loaded } from '../../components/loaded.tsx'
import { formatCount, formatPercent } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import { failureRate, worseningOf } from './changes.ts'
import type { Center } from './use-center.ts'
import type { Keys } from './use-figures.ts'

interface FailingSkillsProps extends Pick<Center, 'change'> {
  /** Of now, and of the period before. */
  compared: LoadableQuery<[Keys, Keys]>
}

/** Skills that fail now, and did not so before. */
export function FailingSkills({ compared, change }: FailingSkillsProps) {
  return (
    <AttentionCard
      title="Newly failing"
      rule="Three failures or more, and none in the period before; or twice the share, and five points more."
    >
      <Loaded query={compared} what="failures">
        {([now, before]) => {
          const items = failing(now, before).map(({ row, earlierRow, worsening }) => ({
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
            said: `${formatPercent(failureRate(row))} failed (${formatCount(row.failures)} of ${formatCount(row.invocations)}), before ${earlierRow ? formatPercent(failureRate(earlierRow)) : 'not used'}`,
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
      </Loaded>
    </AttentionCard>
  )
}

/** The most failures first. */
function failing(now: Keys, before: Keys) {
  const earlier = new Map(before.rows.map((row) => [row.key, row]))
  return now.rows
    .map((row) => ({ row, earlierRow: earlier.get(row.key), worsening: worseningOf(row, earlier.get(row.key)) }))
    .filter(({ worsening }) => worsening !== undefined)
    .sort((one, other) => other.row.failures - one.row.failures)
}
