import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

interface SearchFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** What the address says. */
  value: string | undefined
  onSearch(text: string | undefined): void
}

const pauseMs = 250

/**
 * A text that is looked for while somebody types. The field has it at once and the address after a pause, else the field
 * would be written anew from the address at each letter, and the caret would jump.
 */
export function SearchField({ value = '', onSearch, ...rest }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  const told = useRef(value)
  const tell = useDebouncedCallback((text: string) => {
    told.current = text
    onSearch(text || undefined)
  }, pauseMs)
  // Another address, by a link or the way back; what the field told itself is older than what stands in it.
  useEffect(() => {
    if (value !== told.current) setTyped(value)
    told.current = value
  }, [value])
  return (
    <TextInput
      {...rest}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}
