import { Box, Button, type ComboboxData, Group } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useSuggestions } from '../../components/filter-suggestions.ts'
import { FilterText } from '../../components/filter-text.tsx'
import { MomentInput } from '../../ui/moment-input.tsx'
import type { EventsSearch } from './events-search.ts'

type Filters = Omit<EventsSearch, 'event' | 'view'>

interface EventFiltersProps {
  filters: Filters
  onChange(change: Filters): void
}

const none: Filters = {
  event_kind: undefined,
  subject: undefined,
  actor: undefined,
  created_at__gte: undefined,
  created_at__lt: undefined,
}
const moment = { placeholder: 'Any time', w: { base: '100%', xs: 170 } }

/** Kind and time are asked of the Hub; subject and actor are looked for among what it answers. */
export function EventFilters({ filters, onChange }: EventFiltersProps) {
  const [wanted, setWanted] = useState(false)
  const suggestions = useSuggestions(wanted)
  const isFiltered = Object.values(filters).some(Boolean)
  const text = (
    name: 'event_kind' | 'subject' | 'actor',
    label: string,
    placeholder: string,
    suggested: ComboboxData,
  ) => (
    <Box w={{ base: '100%', xs: name === 'event_kind' ? 225 : 175 }}>
      <FilterText
        {...{ label, placeholder, value: filters[name], suggestions: suggested }}
        onFocus={() => setWanted(true)}
        onChoose={(value) => onChange({ [name]: value })}
      />
    </Box>
  )
  return (
    <Group component="search" gap="sm" align="flex-end" mb="md" aria-label="Filter events">
      {text('event_kind', 'Event kind', 'Any kind', [...suggestions.event_kind])}
      {text('subject', 'Subject', 'record:019a…', [])}
      {text('actor', 'Who', 'usr_… or sa…', [...suggestions.created_by])}
      <MomentInput
        label="From"
        {...moment}
        value={filters.created_at__gte}
        onChange={(created_at__gte) => onChange({ created_at__gte })}
      />
      <MomentInput
        label="Before"
        {...moment}
        value={filters.created_at__lt}
        onChange={(created_at__lt) => onChange({ created_at__lt })}
      />
      {isFiltered && (
        <Button variant="subtle" color="gray" leftSection={<IconX size={16} />} onClick={() => onChange(none)}>
          Clear
        </Button>
      )}
    </Group>
  )
}
