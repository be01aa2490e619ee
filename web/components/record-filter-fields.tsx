import '@mantine/dates/styles.css'
import { Autocomplete, MultiSelect, SimpleGrid, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { governanceKinds } from '../../contract/governance-kinds.ts'
import { recordTypes } from '../../contract/literals.ts'
import { canSee } from '../../contract/record-visibility.ts'
import { useMe } from '../api/me.ts'
import type { FilterValues } from './record-filter.ts'
import { recordTypeLooks } from './record-type.tsx'

interface RecordFilterFieldsProps {
  /** `form.getInputProps` of a field: `(name) => form.getInputProps(`filter.${name}`)`. */
  // biome-ignore lint/suspicious/noExplicitAny: what the form library gives
  input(name: keyof FilterValues): any
}

/** The fields of a filter, as exports and legal holds take it (contract/record-filter.ts). */
export function RecordFilterFields({ input }: RecordFilterFieldsProps) {
  const { scopes } = useMe()
  const types = recordTypes.filter((type) => canSee(scopes, type))
  const when = { valueFormat: 'D MMM YYYY HH:mm', clearable: true, highlightToday: true } as const
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
      <TextInput label="Skill" placeholder="hr.policy-answer" {...input('skill_id')} />
      <TextInput label="Archetype" placeholder="account-manager" {...input('archetype_id')} />
      <TextInput label="User" placeholder="user:ada@example.com" {...input('user_id')} />
      <TextInput label="Written by" placeholder="Id of a person or service account" {...input('created_by')} />
      <Autocomplete
        label="Event kind"
        placeholder="Of governance events"
        data={[...governanceKinds]}
        limit={12}
        {...input('event_kind')}
      />
      <DateTimePicker label="Created from" placeholder="Any time" {...when} {...input('created_at__gte')} />
      <DateTimePicker label="Created before" placeholder="Any time" {...when} {...input('created_at__lt')} />
    </SimpleGrid>
  )
}
