import { Group, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react'
import { formatPercent, formatPoints, nothing } from '../../ui/formats.ts'
import { changeOf, type Direction } from './trends.ts'

/** The state of a previous value; `none` if the whole previous period has no events, which the page states once. */
export type Earlier = 'known' | 'reading' | 'failed' | 'none'

export function stateOf({ data, error }: { data: unknown; error: unknown }): Earlier {
  return data !== undefined ? 'known' : error ? 'failed' : 'reading'
}

interface ChangeTextProps {
  /** Undefined without a value, such as a share of zero. */
  now: number | undefined
  before: number | undefined
  /** The state of the previous value; defaults to known. */
  earlier?: Earlier
  format(value: number): string
  /** The direction of an improvement; absent for costs and use, which the reader judges. */
  better?: 'up' | 'down'
  /**
   * The form of the difference: as a share of the previous value (the default), in percentage points for shares, or as
   * an amount for values that may be negative.
   */
  by?: 'ratio' | 'points' | 'amount'
  /** Omits the previous value, which the tooltip contains. */
  short?: boolean
}

/** A red that is readable on both backgrounds. */
const worse = 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))'

const icons: Record<Direction, typeof IconArrowRight> = {
  up: IconArrowUpRight,
  down: IconArrowDownRight,
  same: IconArrowRight,
}

/** Shows the change of a value from the previous period: an arrow, the difference, and the previous value. */
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

/** Returns the text if no comparison is possible. */
function wordsWithout(now: number | undefined, earlier: Earlier): string {
  if (earlier === 'failed') return 'previous period: not known'
  return now === undefined || earlier === 'reading' || earlier === 'none' ? '\u00a0' : 'no previous data'
}
