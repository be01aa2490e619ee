import { Box, Button, Collapse, useMatches } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'

interface FoldedFiltersProps {
  /** How many are set: it stands on the button, since nobody sees them. */
  set: number
  children: ReactNode
}

/** Filters of a list. On a phone, where they would fill the first screen, one button opens them. */
export function FoldedFilters({ set, children }: FoldedFiltersProps) {
  const isPhone = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  const [opened, { toggle }] = useDisclosure(false)
  const id = useId()
  return (
    <div>
      {isPhone && (
        <Button
          variant="default"
          fullWidth
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={opened}
          aria-controls={id}
          onClick={toggle}
        >
          {set > 0 ? `Filters (${set})` : 'Filters'}
        </Button>
      )}
      {/* Hidden, not taken out: what somebody types stays when the window becomes narrower. */}
      <Collapse id={id} expanded={!isPhone || opened} keepMountedMode="display-none">
        <Box pt={isPhone ? 'xs' : 0}>{children}</Box>
      </Collapse>
    </div>
  )
}
