import { Button, Group, Popover, SegmentedControl, Skeleton, Switch } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { defaultPreset, type Interval, isoOf, mayBeHourly, type Preset, type Span } from './ranges.ts'
import type { RangeState } from './use-range.ts'

// The calendar comes with a library of its own.
const CustomRange = lazy(() => import('./custom-range.tsx'))

const labels: Record<Preset, string> = { '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' }

interface RangePickerProps {
  search: RangeState
  range: Span
  interval: Interval
  /** Absent on a page without live updates. */
  isLive?: boolean
  change(changes: RangeState & { live?: 'off' | undefined }): void
}

/** Selects the range of the page, the interval of its charts, and live updates. */
export function RangePicker({ search, range, interval, isLive, change }: RangePickerProps) {
  const [opened, setOpened] = useState(false)
  const isCustom = search.range === 'custom'
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Range"
        value={isCustom ? '' : (search.range ?? defaultPreset)}
        onChange={(value) => change({ range: value as Preset, from: undefined, to: undefined })}
        data={Object.entries(labels).map(([value, label]) => ({ value, label }))}
      />
      <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus withinPortal>
        <Popover.Target>
          <Button
            size="xs"
            variant={isCustom ? 'light' : 'default'}
            leftSection={<IconCalendar size={14} />}
            onClick={() => setOpened(!opened)}
          >
            Custom
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Suspense fallback={<Skeleton width={280} height={200} />}>
            <CustomRange
              span={range}
              onChoose={({ from, to }) => {
                change({ range: 'custom', from: isoOf(from), to: isoOf(to) })
                setOpened(false)
              }}
            />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
      <SegmentedControl
        size="xs"
        aria-label="Interval"
        value={interval}
        onChange={(value) => change({ interval: value as 'hour' | 'day' })}
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
