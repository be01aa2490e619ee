import { Button, Code, Group, Text } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

interface CopyFieldProps {
  value: string
  /** The text of the button: "Copy link". */
  label: string
}

/** Shows a value to copy, with a labelled button that confirms the copy. For ids and hashes use CopyText. */
export function CopyField({ value, label }: CopyFieldProps) {
  const clipboard = useClipboard({ timeout: 4000 })
  const status = clipboard.copied
    ? 'Copied'
    : clipboard.error
      ? 'The browser refused. Select the text and copy it.'
      : ''
  return (
    <Group gap="sm">
      <Code flex="1 1 14rem" style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Code>
      <Button
        variant="default"
        leftSection={clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        onClick={() => clipboard.copy(value)}
      >
        {label}
      </Button>
      <Text role="status" size="sm" fw={600} c={clipboard.copied ? 'seal' : undefined} mih="1.2rem">
        {status}
      </Text>
    </Group>
  )
}
