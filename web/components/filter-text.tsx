import { Autocomplete, type ComboboxData } from '@mantine/core'
import { useEffect, useState } from 'react'

interface FilterTextProps {
  label: string
  placeholder: string
  /** What the address says. */
  value: string | undefined
  suggestions: ComboboxData
  /** Somebody is about to type: suggestions are wanted now. */
  onFocus(): void
  onChoose(value: string | undefined): void
}

/** A filter with suggestions: it counts when one is chosen, by Enter, or when the field is left. */
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
        // Where it is the filter already, the library leaves its label in the field.
        queueMicrotask(() => setTyped(chosen))
      }}
      onBlur={() => choose(typed)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') choose(typed)
      }}
    />
  )
}
