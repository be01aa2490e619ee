import { Box, Button, Collapse, useMatches } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'

interface FoldedFiltersProps {
  /** The number of active filters, shown on the button because the filters are hidden. */
  set: number
  children: ReactNode
}

/** Shows filters of a list. On a phone, one button opens them, because they would fill the first screen. */
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
      {/* Hidden, not removed: input stays when the window becomes narrower. */}
      <Collapse id={id} expanded={!isPhone || opened} keepMountedMode="display-none">
        <Box pt={isPhone ? 'xs' : 0}>{children}</Box>
      </Collapse>
    </div>
  )
}
