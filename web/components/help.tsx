import { ActionIcon, Anchor, Popover, Stack, Text } from '@mantine/core'
import { IconHelpCircle } from '@tabler/icons-react'
import { useState } from 'react'
import { type Concept, conceptOf, glossaryPage } from './glossary.ts'

interface HelpProps {
  /** A term of `docs/glossary.md`, exactly as it is written there. */
  term: string
  /** The name on the page; defaults to the term. */
  label?: string
}

/** Shows a button that explains a concept, with a link to its page in the documentation. */
export function Help({ term, label = term }: HelpProps) {
  const [opened, setOpened] = useState(false)
  const [concept, setConcept] = useState<Concept>()
  const [failed, setFailed] = useState(false)
  const toggle = () => {
    setOpened(!opened)
    if (opened || concept) return
    setFailed(false)
    conceptOf(term).then(setConcept, () => setFailed(true))
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={280}
      position="bottom-start"
      shadow="md"
      withArrow
      trapFocus
      returnFocus
      portalProps={{ target: '#page' }}
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={20}
          radius="xl"
          aria-label={`What is ${label}?`}
          onClick={toggle}
        >
          <IconHelpCircle size={15} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Text size="sm" role="status">
            {concept?.meaning ?? (failed ? 'The text could not be loaded.' : 'Loading …')}
          </Text>
          <Anchor size="sm" href={concept?.href ?? glossaryPage} target="_blank" underline="always">
            Read more in the documentation
          </Anchor>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
