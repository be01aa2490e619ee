import { Autocomplete, type ComboboxData } from '@mantine/core'
import { useEffect, useState } from 'react'

interface FilterTextProps {
  label: string
  placeholder: string
  /** The value in the address. */
  value: string | undefined
  suggestions: ComboboxData
  /** Called before the user types: suggestions are needed now. */
  onFocus(): void
  onChoose(value: string | undefined): void
}

/** A filter with suggestions. It applies on a choice, on Enter, or when the field loses focus. */
export function FilterText({ label, placeholder, value = '', suggestions, onFocus, onChoose }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const choose = (text: string) => {
    const chosen = text.trim()
    if (chosen !== value) onChoose(chosen === '' ? undefined : chosen)
  }
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      data={suggestions}
      limit={50}
      maxDropdownHeight={280}
      maxLength={300}
      spellCheck={false}
      value={typed}
      onChange={setTyped}
      onFocus={onFocus}
      onOptionSubmit={(chosen) => {
        choose(chosen)
        // If the filter has this value already, the library leaves its label in the field.
        queueMicrotask(() => setTyped(chosen))
      }}
      onBlur={() => choose(typed)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') choose(typed)
      }}
    />
  )
}
