import { Autocomplete } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Suggested } from './suggestion.ts'
import { type Option, useSuggestedOptions } from './use-suggest.ts'

interface FilterTextProps {
  label: string
  placeholder: string
  /** The value in the address. */
  value: string | undefined
  suggestions: readonly Option[]
  /** The Hub's suggestions for the typed text, which join those above. */
  suggested?: Suggested | undefined
  /** Called before the user types: suggestions are needed now. */
  onFocus(): void
  onChoose(value: string | undefined): void
}

/** A filter with suggestions. It applies on a choice, on Enter, or when the field loses focus. */
export function FilterText({
  label,
  placeholder,
  value = '',
  suggestions,
  suggested,
  onFocus,
  onChoose,
}: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const [isFocused, setFocused] = useState(false)
  const options = useSuggestedOptions(typed, suggestions, isFocused && typed !== value ? suggested : undefined)
  const choose = (text: string) => {
    const chosen = text.trim()
    if (chosen !== value) onChoose(chosen === '' ? undefined : chosen)
  }
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      data={options}
      limit={50}
      maxDropdownHeight={280}
      maxLength={300}
      spellCheck={false}
      value={typed}
      onChange={setTyped}
      onFocus={() => {
        setFocused(true)
        onFocus()
      }}
      onOptionSubmit={(chosen) => {
        choose(chosen)
        // If the filter has this value already, the library leaves its label in the field.
        queueMicrotask(() => setTyped(chosen))
      }}
      onBlur={() => {
        setFocused(false)
        choose(typed)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') choose(typed)
      }}
    />
  )
}
