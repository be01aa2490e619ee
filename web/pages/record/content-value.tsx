import { Button, Code, Text } from '@mantine/core'
import { useState } from 'react'

interface ContentValueProps {
  value: unknown
  /** The name of the content, for screen readers. */
  label: string
}

/** Maximum number of characters shown at first; more would make the page slow. */
const charactersShown = 20_000

/**
 * Shows content as it was written. Texts, markdown and HTML are shown as their characters and never run; everything
 * else is indented JSON.
 */
export function ContentValue({ value, label }: ContentValueProps) {
  const [whole, setWhole] = useState(false)
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const shown = whole ? text : text.slice(0, charactersShown)
  return (
    <>
      <Code
        block
        tabIndex={0}
        role="group"
        aria-label={label}
        mah="28rem"
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {shown}
      </Code>
      {shown.length < text.length && (
        <Text size="sm" mt={4}>
          The first {charactersShown.toLocaleString()} of {text.length.toLocaleString()} characters.{' '}
          <Button size="compact-sm" variant="subtle" onClick={() => setWhole(true)}>
            Show all
          </Button>
        </Text>
      )}
    </>
  )
}
