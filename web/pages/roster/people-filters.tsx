import { Box, CloseButton, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { useArchetypes } from '../../components/full-lists.ts'
import { roleOptions } from '../../components/role-labels.ts'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import type { RosterSearch } from './roster-search.ts'

interface PeopleFiltersProps {
  search: RosterSearch
  onChange(next: RosterSearch): void
}

const everyone = 'all'
const matching = [
  { value: everyone, label: 'Any' },
  { value: 'no', label: 'None' },
  { value: 'yes', label: 'At least one' },
]
const activity = [
  { value: 'yes', label: 'Active' },
  { value: 'no', label: 'Deactivated' },
  { value: everyone, label: 'Any' },
]

/** Filters the listed people. */
export function PeopleFilters({ search, onChange }: PeopleFiltersProps) {
  const archetypes = useArchetypes()
  const groups = api.useQuery('get', '/api/v1/roster/groups', { params: { query: { limit: 1000 } } })
  const [typed, setTyped] = useState(search.search ?? '')
  const submit = useDebouncedCallback((text: string) => onChange({ ...search, search: text.trim() || undefined }), 250)
  const type = (text: string) => {
    setTyped(text)
    submit(text)
  }
  const { search: text, matched, archetype, group, role, active } = search
  return (
    <Box component="search" display="block" mb="sm" aria-label="Filters of people">
      <FoldedFilters set={[text, matched, archetype, group, role, active].filter(Boolean).length}>
        <SimpleGrid cols={{ base: 1, xs: 2, sm: 3, lg: 6 }} spacing="xs" verticalSpacing="xs">
          <TextInput
            label="Person"
            placeholder="Address or name"
            rightSection={typed && <CloseButton size="sm" aria-label="Clear" onClick={() => type('')} />}
            maxLength={200}
            value={typed}
            onChange={(event) => type(event.currentTarget.value)}
          />
          <Select
            label="Archetypes given"
            data={matching}
            allowDeselect={false}
            value={matched ?? everyone}
            onChange={(value) =>
              onChange({ ...search, matched: value === everyone ? undefined : (value as 'yes' | 'no') })
            }
          />
          <Select
            label="Archetype"
            placeholder="Any"
            searchable
            clearable
            limit={100}
            data={
              archetypes.data?.map(({ archetype_id, name }) => ({
                value: archetype_id,
                label: name ?? archetype_id,
              })) ?? []
            }
            value={archetype ?? null}
            onChange={(value) => onChange({ ...search, archetype: value ?? undefined })}
          />
          <Select
            label="Group"
            placeholder="Any"
            searchable
            clearable
            limit={100}
            data={
              groups.data?.items.map(({ group_id, display_name }) => ({ value: group_id, label: display_name })) ?? []
            }
            value={group ?? null}
            onChange={(value) => onChange({ ...search, group: value ?? undefined })}
          />
          <Select
            label="Role"
            placeholder="Any"
            clearable
            data={roleOptions}
            value={role ?? null}
            onChange={(value) => onChange({ ...search, role: (value as RosterSearch['role']) ?? undefined })}
          />
          <Select
            label="State"
            data={activity}
            allowDeselect={false}
            value={active ?? 'yes'}
            onChange={(value) => onChange({ ...search, active: value === 'yes' ? undefined : (value as 'no' | 'all') })}
          />
        </SimpleGrid>
      </FoldedFilters>
    </Box>
  )
}
