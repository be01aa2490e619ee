import { Button, Code, Text } from '@mantine/core'
import { useState } from 'react'

interface ContentValueProps {
  value: unknown
  /** What it is, for screen readers. */
  label: string
}

/** So much is shown at once; more of it would make the page slow. */
const charactersShown = 20_000

/**
 * Content as it was written. Texts, markdown and HTML too, are shown as the characters they are, and never run;
 * everything else is JSON, indented.
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
