import { MultiSelect, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import { recordTypes } from '../../contract/literals.ts'
import { canSee } from '../../contract/record-visibility.ts'
import { useMe } from '../api/me.ts'
import { DateTimeInput } from '../ui/date-time-input.tsx'
import { type Suggestions, useSuggestions } from './filter-suggestions.ts'
import type { FilterValues } from './record-filter.ts'
import { recordTypeLooks } from './record-type.tsx'
import { SuggestedText } from './suggested-text.tsx'

interface RecordFilterFieldsProps {
  /** `form.getInputProps` of a field: `(name) => form.getInputProps(`filter.${name}`)`. */
  // biome-ignore lint/suspicious/noExplicitAny: what the form library gives
  input(name: keyof FilterValues): any
}

/** Shows the fields of a filter for exports and legal holds (contract/record-filter.ts). */
export function RecordFilterFields({ input }: RecordFilterFieldsProps) {
  const { scopes } = useMe()
  const [wanted, setWanted] = useState(false)
  const suggestions = useSuggestions(wanted)
  const types = recordTypes.filter((type) => canSee(scopes, type))
  const text = (name: keyof Suggestions, label: string, placeholder: string) => {
    return (
      <SuggestedText
        {...{ label, placeholder, given: suggestions[name] }}
        suggested={name === 'event_kind' ? undefined : name}
        field={input(name)}
        onWanted={() => setWanted(true)}
      />
    )
  }
  const moment = (name: 'created_at__gte' | 'created_at__lt', label: string) => {
    const { value, onChange, ...field } = input(name)
    return (
      <DateTimeInput
        label={label}
        placeholder="Any time"
        {...field}
        value={value ?? undefined}
        onChange={(iso) => onChange(iso ?? null)}
      />
    )
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <MultiSelect
        label="Record types"
        placeholder={input('record_type').value.length > 0 ? undefined : 'All types'}
        data={types.map((value) => ({ value, label: recordTypeLooks[value].label }))}
        clearable
        hidePickedOptions
        {...input('record_type')}
      />
      {text('skill_id', 'Skill', 'Any skill')}
      {text('archetype_id', 'Archetype', 'Any archetype')}
      {text('user_id', 'User', 'Any user')}
      {text('created_by', 'Created by', 'Anybody')}
      {text('event_kind', 'Event kind', 'Any kind')}
      {moment('created_at__gte', 'Created from')}
      {moment('created_at__lt', 'Created before')}
    </SimpleGrid>
  )
}
