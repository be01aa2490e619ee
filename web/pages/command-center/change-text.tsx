import { Group, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react'
import { formatPercent, formatPoints, nothing } from '../../ui/formats.ts'
import { changeOf, type Direction } from './trends.ts'

/** Whether a previous figure is known; `none` if the whole previous period has no events, which the page says once. */
export type Earlier = 'known' | 'reading' | 'failed' | 'none'

interface ChangeTextProps {
  /** Undefined where there is none, such as a share of nothing. */
  now: number | undefined
  before: number | undefined
  /** Whether it is known what there was before; it is, if absent. */
  earlier?: Earlier
  format(value: number): string
  /** Which direction is good news; neither, where it is absent: of costs and use the reader decides. */
  better?: 'up' | 'down'
  /**
   * How the difference is told: as a share of what was before, if absent; of shares in percentage points; of what may be
   * less than nothing as an amount.
   */
  by?: 'ratio' | 'points' | 'amount'
  /** Without the figure before, which is in the title. */
  short?: boolean
}

/** Red that is read on either background. */
const worse = 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))'

const icons: Record<Direction, typeof IconArrowRight> = {
  up: IconArrowUpRight,
  down: IconArrowDownRight,
  same: IconArrowRight,
}

/** How a figure moved against the period before: an arrow, by how much, and from what. */
export function ChangeText({ now, before, earlier = 'known', format, better, by = 'ratio', short }: ChangeTextProps) {
  const change = earlier === 'known' ? changeOf(now, before) : undefined
  if (!change || now === undefined || before === undefined || (by === 'ratio' && change.ratio === undefined)) {
    return (
      <Text size="xs" c="dimmed">
        {short && earlier === 'known' && now !== undefined ? nothing : wordsWithout(now, earlier)}
      </Text>
    )
  }
  const Icon = icons[change.direction]
  const isWorse = better !== undefined && change.direction !== 'same' && change.direction !== better
  const isBetter = better !== undefined && change.direction === better
  const amounts = {
    ratio: () => formatPercent(Math.abs(change.ratio ?? 0)),
    points: () => `${formatPoints(Math.abs(now - before))} points`,
    amount: () => format(Math.abs(now - before)),
  }
  const words = { up: 'up', down: 'down', same: 'as before' }[change.direction]
  return (
    <Group gap={2} wrap="nowrap" title={`${format(before)} in the previous period`}>
      <Icon size={14} aria-hidden color={isWorse ? worse : undefined} />
      <Text size="xs" truncate c={isWorse ? worse : isBetter ? 'var(--mantine-primary-color-light-color)' : undefined}>
        {change.direction === 'same' ? words : `${words} ${amounts[by]()}`}
        <Text span inherit c="dimmed">
          {change.direction === 'same' || short ? '' : ` from ${format(before)}`}
        </Text>
      </Text>
    </Group>
  )
}

/** Where nothing is compared. */
function wordsWithout(now: number | undefined, earlier: Earlier): string {
  if (earlier === 'failed') return 'previous period: not known'
  return now === undefined || earlier === 'reading' || earlier === 'none' ? '\u00a0' : 'no previous data'
}
