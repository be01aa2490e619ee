import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

interface SearchFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** The value in the address. */
  value: string | undefined
  onSearch(text: string | undefined): void
}

const pauseMs = 250

/**
 * A field that searches while the user types. The field changes at once and the address after a pause; otherwise each
 * letter would reset the field from the address, and the caret would jump.
 */
export function SearchField({ value = '', onSearch, ...rest }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  const told = useRef(value)
  const tell = useDebouncedCallback((text: string) => {
    told.current = text
    onSearch(text || undefined)
  }, pauseMs)
  // The address changed by a link or the back button. The value that the field itself sent is older than its text.
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
