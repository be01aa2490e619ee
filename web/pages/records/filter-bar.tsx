import { Button, Collapse, Group, Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { patterns, recordTypes } from '../../../contract/literals.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { useMe } from '../../api/me.ts'
import { useSuggestions } from '../../components/filter-suggestions.ts'
import { FilterText } from '../../components/filter-text.tsx'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import { EventFilters } from './event-filters.tsx'
import { rangeNames } from './filter-labels.ts'
import { activeFilters, hasEventFilter, usualSort } from './record-query.ts'
import { type RecordsSearch, ranges, sorts } from './records-search.ts'

// The calendar is larger than the other filters together and rarely used.
const MomentInput = lazy(() =>
  import('../../ui/date-time-input.tsx').then((module) => ({ default: module.DateTimeInput })),
)

interface FilterBarProps {
  search: RecordsSearch
  onChange(change: Partial<RecordsSearch>): void
}

const sortNames: Record<(typeof sorts)[number], string> = {
  '-created_at': 'Newest first',
  created_at: 'Oldest first',
  '-cost_usd_estimate': 'Highest cost first',
  cost_usd_estimate: 'Lowest cost first',
}

/** Edits every parameter of the query. The address holds the values. */
export function FilterBar({ search, onChange }: FilterBarProps) {
  const { scopes } = useMe()
  const [wanted, setWanted] = useState(false)
  const isMoreSet = [search.user_id, search.created_by, search.event_kind, search.record_id].some(Boolean)
  const [more, { toggle }] = useDisclosure(isMoreSet || hasEventFilter(search) || search.include_purged !== undefined)
  const [between, setBetween] = useState(false)
  const suggestions = useSuggestions(wanted)
  const types = recordTypes.filter((type) => canSee(scopes, type))
  const isBetween = between || (!search.within && Boolean(search.created_at__gte ?? search.created_at__lt))

  const text = (
    name: 'skill_id' | 'archetype_id' | 'user_id' | 'created_by' | 'event_kind',
    label: string,
    example: string,
  ) => (
    <FilterText
      label={label}
      placeholder={example}
      value={search[name]}
      suggestions={suggestions[name]}
      suggested={name === 'event_kind' ? undefined : name}
      onFocus={() => setWanted(true)}
      onChoose={(value) => onChange({ [name]: value })}
    />
  )

  const betweenTimes = isBetween && (
    <Suspense
      fallback={['Created from', 'Created before'].map((label) => <TextInput key={label} label={label} disabled />)}
    >
      <MomentInput
        label="Created from"
        placeholder="Any time"
        value={search.created_at__gte}
        onChange={(created_at__gte) => onChange({ created_at__gte })}
      />
      <MomentInput
        label="Created before"
        placeholder="Any time"
        value={search.created_at__lt}
        onChange={(created_at__lt) => onChange({ created_at__lt })}
      />
    </Suspense>
  )
  return (
    <search aria-label="Filters">
      <FoldedFilters set={activeFilters(search).length}>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: types.length > 1 ? 6 : 5 }} spacing="sm" verticalSpacing="xs">
          {types.length > 1 && (
            <Select
              label="Type"
              placeholder="All types"
              data={types.map((value) => ({ value, label: recordTypeLooks[value].plural }))}
              value={search.record_type ?? null}
              onChange={(value) => onChange({ record_type: (value as RecordsSearch['record_type']) ?? undefined })}
              clearable
            />
          )}
          {text('skill_id', 'Skill', 'Any skill')}
          {text('archetype_id', 'Archetype', 'Any archetype')}
          <Select
            label="Created"
            placeholder="Any time"
            data={[
              ...ranges.map((value) => ({ value, label: rangeNames[value] })),
              { value: 'between', label: 'Between …' },
            ]}
            value={isBetween ? 'between' : (search.within ?? null)}
            onChange={(value) => {
              setBetween(value === 'between')
              const within = value === 'between' ? undefined : ((value as RecordsSearch['within']) ?? undefined)
              onChange({
                within,
                ...(value !== 'between' && { created_at__gte: undefined, created_at__lt: undefined }),
              })
            }}
            clearable
          />
          {!search.q && (
            <Select
              label="Order"
              data={sorts.map((value) => ({ value, label: sortNames[value] }))}
              value={search.sort ?? usualSort}
              allowDeselect={false}
              onChange={(value) =>
                onChange({ sort: value === usualSort ? undefined : ((value as RecordsSearch['sort']) ?? undefined) })
              }
            />
          )}
          <Button
            variant="default"
            onClick={toggle}
            aria-expanded={more}
            px="sm"
            style={{ alignSelf: 'end' }}
            leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          >
            {more ? 'Fewer filters' : 'More filters'}
          </Button>
          {betweenTimes}
        </SimpleGrid>
        <Collapse expanded={more}>
          <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" verticalSpacing="xs" mt="xs">
            {text('user_id', 'User', 'Any user')}
            {text('created_by', 'Created by', 'Anybody')}
            {canSee(scopes, 'governance_event') && text('event_kind', 'Event kind', 'Of governance events')}
            <RecordIdFilter value={search.record_id} onChange={(record_id) => onChange({ record_id })} />
          </SimpleGrid>
          {canSee(scopes, 'telemetry_event') && !search.q && <EventFilters search={search} onChange={onChange} />}
          <Group mt="sm" gap="lg">
            <Switch
              label="Include purged"
              checked={search.include_purged !== undefined}
              onChange={(event) => onChange({ include_purged: event.currentTarget.checked ? 'true' : undefined })}
            />
            <Switch
              label="Verify on the server"
              checked={search.verify !== undefined}
              onChange={(event) => onChange({ verify: event.currentTarget.checked ? 'true' : undefined })}
            />
          </Group>
        </Collapse>
      </FoldedFilters>
    </search>
  )
}

function RecordIdFilter({
  value = '',
  onChange,
}: {
  value: string | undefined
  onChange(id: string | undefined): void
}) {
  const [typed, setTyped] = useState(value)
  // The value was removed or replaced elsewhere: by a chip, a preset, the back button.
  useEffect(() => setTyped((before) => (before.trim().toLowerCase() === value ? before : value)), [value])
  const isId = new RegExp(patterns.uuid).test(typed.trim())
  return (
    <TextInput
      label="Record id"
      placeholder="01a1fd94-4e90-…"
      value={typed}
      spellCheck={false}
      error={typed.trim() !== '' && !isId && 'An id has 32 hexadecimal digits and four hyphens.'}
      onChange={({ currentTarget }) => {
        const text = currentTarget.value
        setTyped(text)
        if (text.trim() === '') onChange(undefined)
        else if (new RegExp(patterns.uuid).test(text.trim())) onChange(text.trim().toLowerCase())
      }}
    />
  )
}
