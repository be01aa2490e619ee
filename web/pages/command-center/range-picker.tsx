import { Button, Group, Popover, SegmentedControl, Skeleton, Switch } from '@mantine/core'
import { IconArrowsLeftRight, IconCalendar } from '@tabler/icons-react'
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'
import {
  comparedRange,
  defaultPreset,
  type Interval,
  isoOf,
  mayBeHourly,
  type Preset,
  type Range,
  type Span,
} from './ranges.ts'
import type { RangeState } from './use-range.ts'

// The calendar comes with a library of its own.
const CustomRange = lazy(() => import('./custom-range.tsx'))

const labels = { '1h': '1 h', '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' } as const
const months = { month: 'This month', 'last-month': 'Last month' } as const

interface RangePickerProps {
  search: RangeState
  range: Range
  interval: Interval
  /** Absent on a page without live updates. */
  isLive?: boolean
  change(changes: RangeState & { live?: 'off' | undefined }): void
}

/** Selects the range of the page, the range to compare it with, the interval of its charts, and live updates. */
export function RangePicker({ search, range, interval, isLive, change }: RangePickerProps) {
  const preset = search.range ?? defaultPreset
  const isMonth = preset === 'month' || preset === 'last-month'
  const isOther = isMonth || preset === 'custom'
  const isCompared = comparedRange(search) !== undefined
  const choose = (chosen: Preset) => change({ range: chosen, from: undefined, to: undefined })
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Range"
        value={isOther ? '' : preset}
        onChange={(value) => choose(value as Preset)}
        data={Object.entries(labels).map(([value, label]) => ({ value, label }))}
      />
      <RangePopover
        label={isMonth ? months[preset] : 'Custom'}
        isSet={isOther}
        Icon={IconCalendar}
        span={range}
        onChoose={({ from, to }) => change({ range: 'custom', from: isoOf(from), to: isoOf(to) })}
      >
        {(close) => (
          <Group grow gap="xs" mb="sm">
            {Object.entries(months).map(([value, label]) => (
              <Button
                key={value}
                size="xs"
                variant="default"
                onClick={() => {
                  choose(value as Preset)
                  close()
                }}
              >
                {label}
              </Button>
            ))}
          </Group>
        )}
      </RangePopover>
      <RangePopover
        label={isCompared ? 'Compared range' : 'Compare'}
        isSet={isCompared}
        Icon={IconArrowsLeftRight}
        span={range.before}
        onChoose={({ from, to }) => change({ compare_from: isoOf(from), compare_to: isoOf(to) })}
      >
        {(close) => (
          <Button
            size="xs"
            variant="default"
            fullWidth
            mb="sm"
            disabled={!isCompared}
            onClick={() => {
              change({ compare_from: undefined, compare_to: undefined })
              close()
            }}
          >
            Previous period
          </Button>
        )}
      </RangePopover>
      <SegmentedControl
        size="xs"
        aria-label="Interval"
        value={interval}
        onChange={(value) => change({ interval: value as Interval })}
        data={[
          { value: 'hour', label: 'Hours', disabled: !mayBeHourly(range) },
          { value: 'day', label: 'Days' },
        ]}
      />
      {isLive !== undefined && (
        <Switch
          size="sm"
          label="Live"
          checked={isLive}
          onChange={(event) => change({ live: event.currentTarget.checked ? undefined : 'off' })}
        />
      )}
    </Group>
  )
}

interface RangePopoverProps {
  label: string
  /** True if the address has a choice of this popover. */
  isSet: boolean
  Icon: ComponentType<{ size?: number }>
  span: Span
  onChoose(span: Span): void
  /** Returns the choices above the calendar. */
  children(close: () => void): ReactNode
}

/** A button with a calendar. */
function RangePopover({ label, isSet, Icon, span, onChoose, children }: RangePopoverProps) {
  const [opened, setOpened] = useState(false)
  const close = () => setOpened(false)
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          size="xs"
          variant={isSet ? 'light' : 'default'}
          leftSection={<Icon size={14} />}
          onClick={() => setOpened(!opened)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {children(close)}
        <Suspense fallback={<Skeleton width={280} height={200} />}>
          <CustomRange
            span={span}
            onChoose={(chosen) => {
              onChoose(chosen)
              close()
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
