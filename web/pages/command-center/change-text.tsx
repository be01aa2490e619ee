import { Group, Skeleton, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react'
import { formatPercent } from '../../ui/formats.ts'
import { changeOf, type Direction } from './changes.ts'

interface ChangeTextProps {
  now: number | undefined
  before: number | undefined
  format(value: number): string
  /** Which direction is good news; neither, where it is absent: of costs and use the reader decides. */
  better?: 'up' | 'down'
  /** Of a share: the difference in percentage points. */
  inPoints?: boolean
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
export function ChangeText({ now, before, format, better, inPoints, short }: ChangeTextProps) {
  if (now === undefined && before === undefined)
    return <Skeleton height={14} mt={4} width="70%" animate={false} opacity={0} />
  const change = changeOf(now, before)
  if (!change || now === undefined || before === undefined) {
    return (
      <Text size="xs" c="dimmed">
        {now === undefined ? ' ' : 'nothing before'}
      </Text>
    )
  }
  const Icon = icons[change.direction]
  const isWorse = better !== undefined && change.direction !== 'same' && change.direction !== better
  const isBetter = better !== undefined && change.direction === better
  const amount = inPoints
    ? `${(Math.abs(now - before) * 100).toFixed(1)} points`
    : change.ratio === undefined
      ? format(Math.abs(now - before))
      : formatPercent(Math.abs(change.ratio))
  const words = { up: 'up', down: 'down', same: 'as before' }[change.direction]
  return (
    <Group gap={4} wrap="nowrap" title={`${format(before)} in the period before`}>
      <Icon size={14} aria-hidden color={isWorse ? worse : undefined} />
      <Text size="xs" truncate c={isWorse ? worse : isBetter ? 'var(--mantine-primary-color-light-color)' : undefined}>
        {change.direction === 'same' ? words : `${words} ${amount}`}
        <Text span inherit c="dimmed">
          {change.direction === 'same' || short ? '' : ` from ${format(before)}`}
        </Text>
      </Text>
    </Group>
  )
}
