import { CloseButton, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { roleNames } from '../../../contract/roles.ts'
import { api } from '../../api/hub.ts'
import { archetypeChoice, useArchetypes } from '../../components/whole-lists.ts'
import type { RosterSearch } from './roster-search.ts'

interface PeopleFiltersProps {
  search: RosterSearch
  onChange(next: RosterSearch): void
}

const everyone = 'all'
const matching = [
  { value: everyone, label: 'With and without archetype' },
  { value: 'no', label: 'Without archetype' },
  { value: 'yes', label: 'With archetype' },
]
const activity = [
  { value: 'yes', label: 'Active' },
  { value: 'no', label: 'Deactivated' },
  { value: everyone, label: 'Active and deactivated' },
]
const rolesData = roleNames.map((name) => ({ value: name, label: `${name[0]?.toUpperCase()}${name.slice(1)}` }))

/** All six on one line of a wide screen, each on its own on a phone. */
const filterWidth = { base: '100%', sm: 210 }

/** Which people are listed. */
export function PeopleFilters({ search, onChange }: PeopleFiltersProps) {
  const archetypes = useArchetypes()
  const groups = api.useQuery('get', '/api/v1/roster/groups', { params: { query: { limit: 1000 } } })
  const [typed, setTyped] = useState(search.search ?? '')
  const submit = useDebouncedCallback((text: string) => onChange({ ...search, search: text.trim() || undefined }), 250)
  const type = (text: string) => {
    setTyped(text)
    submit(text)
  }
  return (
    <Group gap="xs" mb="sm" role="search" aria-label="Filters of people">
      <TextInput
        w={filterWidth}
        aria-label="Part of the address or name"
        placeholder="Address or name"
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={typed && <CloseButton size="sm" aria-label="Clear" onClick={() => type('')} />}
        maxLength={200}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
      />
      <Select
        w={filterWidth}
        aria-label="Archetype given or not"
        data={matching}
        allowDeselect={false}
        value={search.matched ?? everyone}
        onChange={(value) => onChange({ ...search, matched: value === everyone ? undefined : (value as 'yes' | 'no') })}
      />
      <Select
        w={filterWidth}
        aria-label="Archetype"
        placeholder="Any archetype"
        searchable
        clearable
        limit={100}
        data={archetypes.data?.map(archetypeChoice) ?? []}
        value={search.archetype ?? null}
        onChange={(value) => onChange({ ...search, archetype: value ?? undefined })}
      />
      <Select
        w={filterWidth}
        aria-label="Group"
        placeholder="Any group"
        searchable
        clearable
        limit={100}
        data={groups.data?.items.map(({ group_id, display_name }) => ({ value: group_id, label: display_name })) ?? []}
        value={search.group ?? null}
        onChange={(value) => onChange({ ...search, group: value ?? undefined })}
      />
      <Select
        w={filterWidth}
        aria-label="Role"
        placeholder="Any role"
        clearable
        data={rolesData}
        value={search.role ?? null}
        onChange={(value) => onChange({ ...search, role: (value as RosterSearch['role']) ?? undefined })}
      />
      <Select
        w={filterWidth}
        aria-label="Active or deactivated"
        data={activity}
        allowDeselect={false}
        value={search.active ?? 'yes'}
        onChange={(value) => onChange({ ...search, active: value === 'yes' ? undefined : (value as 'no' | 'all') })}
      />
    </Group>
  )
}
