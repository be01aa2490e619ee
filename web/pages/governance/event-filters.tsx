import { Box, Button, SimpleGrid } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useSuggestions } from '../../components/filter-suggestions.ts'
import { FilterText } from '../../components/filter-text.tsx'
import type { Suggested } from '../../components/suggestion.ts'
import type { Option } from '../../components/use-suggest.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
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
/** Filters the events: the Hub filters by kind and time, the page by subject and actor. */
export function EventFilters({ filters, onChange }: EventFiltersProps) {
  const [wanted, setWanted] = useState(false)
  const suggestions = useSuggestions(wanted)
  const set = Object.keys(none).filter((name) => filters[name as keyof Filters]).length
  const text = (
    name: 'event_kind' | 'subject' | 'actor',
    label: string,
    placeholder: string,
    given: readonly Option[],
    suggested?: Suggested,
  ) => (
    <FilterText
      {...{ label, placeholder, value: filters[name], suggestions: given, suggested }}
      onFocus={() => setWanted(true)}
      onChoose={(value) => onChange({ [name]: value })}
    />
  )
  const moment = (name: 'created_at__gte' | 'created_at__lt', label: string) => (
    <DateTimeInput
      {...{ label, placeholder: 'Any time', value: filters[name] }}
      onChange={(value) => onChange({ [name]: value })}
    />
  )
  return (
    <Box component="search" mb="md" aria-label="Filter events">
      <FoldedFilters set={set}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 5 }} spacing="sm" verticalSpacing="xs">
          {text('event_kind', 'Event kind', 'Any kind', [...suggestions.event_kind])}
          {text('subject', 'Subject', 'Anything', [], 'subject')}
          {text('actor', 'Who', 'Anybody', [...suggestions.created_by], 'created_by')}
          {moment('created_at__gte', 'From')}
          {moment('created_at__lt', 'Before')}
        </SimpleGrid>
      </FoldedFilters>
      {set > 0 && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          mt="xs"
          leftSection={<IconX size={16} />}
          onClick={() => onChange(none)}
        >
          Clear all
        </Button>
      )}
    </Box>
  )
}
