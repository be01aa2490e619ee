import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { platforms } from '../../../contract/literals.ts'
import { FilterText } from '../../components/filter-text.tsx'
import type { RecordsSearch } from './records-search.ts'

interface EventFiltersProps {
  search: RecordsSearch
  onChange(change: Partial<RecordsSearch>): void
}

type TextName = 'llm_platform' | 'llm_model' | 'error_code' | 'session_id' | 'trace_id'
type NumberName = 'latency_ms__gte' | 'latency_ms__lte' | 'cost_usd__gte' | 'cost_usd__lte'

/** Edits the filters by members of telemetry events. Records of other types never match them. */
export function EventFilters({ search, onChange }: EventFiltersProps) {
  const text = (name: TextName, label: string, placeholder: string, suggestions: readonly string[] = []) => (
    <FilterText
      label={label}
      placeholder={placeholder}
      value={search[name]}
      suggestions={suggestions}
      suggested={name === 'llm_model' ? name : undefined}
      onFocus={() => {}}
      onChoose={(value) => onChange({ [name]: value })}
    />
  )
  const number = (name: NumberName, label: string) => (
    <NumberFilter
      label={label}
      value={search[name]}
      decimals={name.startsWith('cost')}
      onChange={(value) => onChange({ [name]: value })}
    />
  )
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 5 }} spacing="sm" verticalSpacing="xs" mt="xs">
      <Select
        label="Result"
        placeholder="Any result"
        data={[
          { value: 'true', label: 'Succeeded' },
          { value: 'false', label: 'Failed' },
        ]}
        value={search.success ?? null}
        onChange={(value) => onChange({ success: (value as RecordsSearch['success']) ?? undefined })}
        clearable
      />
      {text('error_code', 'Error code', 'Any error code')}
      {text('llm_platform', 'Platform', 'Any platform', platforms)}
      {text('llm_model', 'Model', 'Any model')}
      {text('session_id', 'Session', 'Any session')}
      {number('latency_ms__gte', 'Latency from (ms)')}
      {number('latency_ms__lte', 'Latency to (ms)')}
      {number('cost_usd__gte', 'Cost from ($)')}
      {number('cost_usd__lte', 'Cost to ($)')}
      {text('trace_id', 'Trace', '32 hexadecimal digits')}
    </SimpleGrid>
  )
}

interface NumberFilterProps {
  label: string
  value: string | undefined
  decimals: boolean
  onChange(value: string | undefined): void
}

/** Edits a bound. It applies on Enter or when the field loses focus. */
function NumberFilter({ label, value = '', decimals, onChange }: NumberFilterProps) {
  const [typed, setTyped] = useState(value)
  // The value was removed or replaced elsewhere: by a chip, a saved view, the back button.
  useEffect(() => setTyped(value), [value])
  const wanted = decimals ? /^\d{1,12}(\.\d{1,6})?$/ : /^\d{1,9}$/
  const text = typed.trim()
  const isNumber = text === '' || wanted.test(text)
  const apply = () => {
    if (isNumber && text !== value) onChange(text || undefined)
  }
  return (
    <TextInput
      label={label}
      placeholder="Any"
      inputMode={decimals ? 'decimal' : 'numeric'}
      value={typed}
      error={!isNumber && (decimals ? 'Enter a number, such as 0.25.' : 'Enter a whole number.')}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  )
}
