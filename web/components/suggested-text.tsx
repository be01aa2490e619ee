import { Autocomplete } from '@mantine/core'
import { useState } from 'react'
import type { Suggested } from './suggestion.ts'
import { type Option, useSuggestedOptions } from './use-suggest.ts'

interface SuggestedTextProps {
  label: string
  placeholder: string
  given: readonly Option[]
  /** The Hub's suggestions for the typed text, which join the given ones. */
  suggested: Suggested | undefined
  /** `form.getInputProps` of the field. */
  // biome-ignore lint/suspicious/noExplicitAny: what the form library gives
  field: any
  /** Called before the user types: suggestions are needed now. */
  onWanted(): void
}

/** Shows a field of a form with suggestions. */
export function SuggestedText({ label, placeholder, given, suggested, field, onWanted }: SuggestedTextProps) {
  const [isFocused, setFocused] = useState(false)
  const data = useSuggestedOptions(field.value, given, isFocused ? suggested : undefined)
  return (
    <Autocomplete
      {...{ label, placeholder, data, limit: 50, maxDropdownHeight: 240, spellCheck: false }}
      {...field}
      onFocus={(event) => {
        setFocused(true)
        onWanted()
        field.onFocus?.(event)
      }}
      onBlur={(event) => {
        setFocused(false)
        field.onBlur?.(event)
      }}
      // The library writes the label into the field.
      onOptionSubmit={(chosen) => queueMicrotask(() => field.onChange(chosen))}
    />
  )
}
