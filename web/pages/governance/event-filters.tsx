import '@mantine/dates/styles.css'
import { Autocomplete, Button, Group, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { IconX } from '@tabler/icons-react'
import dayjs from 'dayjs'
import { governanceKinds } from '../../../contract/governance-kinds.ts'
import type { EventsSearch } from './events-search.ts'

type Filters = Omit<EventsSearch, 'event' | 'view'>

interface EventFiltersProps {
  filters: Filters
  onChange(change: Filters): void
}

const picker = {
  valueFormat: 'D MMM YYYY HH:mm',
  clearable: true,
  placeholder: 'Any time',
  w: { base: '100%', xs: 170 },
}

/** Kind and time are asked of the Hub; subject and actor are looked for among what it answers. */
export function EventFilters({ filters, onChange }: EventFiltersProps) {
  const isFiltered = Object.values(filters).some(Boolean)
  const width = { base: '100%', xs: 175 }
  const time = (iso: string | undefined) =>
    iso && dayjs(iso).isValid() ? dayjs(iso).format('YYYY-MM-DD HH:mm:ss') : null
  const stored = (local: string | null) => (local ? dayjs(local).toISOString() : undefined)
  return (
    <Group component="search" gap="sm" align="flex-end" mb="md" aria-label="Filter events">
      <Autocomplete
        label="Event kind"
        placeholder="Any kind"
        data={[...governanceKinds]}
        limit={20}
        w={{ base: '100%', xs: 225 }}
        clearable
        value={filters.event_kind ?? ''}
        onChange={(value) => onChange({ event_kind: value || undefined })}
      />
      <TextInput
        label="Subject"
        placeholder="record:019a…"
        w={width}
        value={filters.subject ?? ''}
        onChange={({ currentTarget }) => onChange({ subject: currentTarget.value || undefined })}
      />
      <TextInput
        label="Who"
        placeholder="usr_… or sa…"
        w={width}
        value={filters.actor ?? ''}
        onChange={({ currentTarget }) => onChange({ actor: currentTarget.value || undefined })}
      />
      <DateTimePicker
        label="From"
        {...picker}
        value={time(filters.created_at__gte)}
        onChange={(value) => onChange({ created_at__gte: stored(value) })}
      />
      <DateTimePicker
        label="Before"
        {...picker}
        value={time(filters.created_at__lt)}
        onChange={(value) => onChange({ created_at__lt: stored(value) })}
      />
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconX size={16} />}
          onClick={() =>
            onChange({
              event_kind: undefined,
              subject: undefined,
              actor: undefined,
              created_at__gte: undefined,
              created_at__lt: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </Group>
  )
}
