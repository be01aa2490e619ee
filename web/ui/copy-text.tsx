import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

interface CopyTextProps {
  value: string
  /** The action for screen readers: "Copy record id". */
  label: string
  /** A text to show instead of the whole value, such as its beginning. */
  shown?: string
}

/** Shows a value with a button that copies it: ids, hashes, commands. */
export function CopyText({ value, label, shown = value }: CopyTextProps) {
  return (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Code className="copy-text" title={shown === value ? undefined : value}>
        {shown}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : label}>
            <ActionIcon variant="subtle" color={copied ? 'seal' : 'gray'} size="sm" onClick={copy} aria-label={label}>
              {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}
