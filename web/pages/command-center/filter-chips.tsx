import { ActionIcon, Badge, Button, Group } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { dimensions, shownKey } from './breakdown/dimensions.ts'
import type { SearchState } from './use-search-state.ts'

/** Moves the focus from a removed button to the chip beside it, or else to the title of the page. */
function leaveFocus(button: HTMLElement) {
  const chips = button.closest('[role="group"]')?.querySelectorAll<HTMLElement>('[data-chip]') ?? []
  const next = [...chips].find((chip) => chip !== button) ?? document.querySelector<HTMLElement>('h1')
  next?.focus()
}

/** Shows the filters of the page, each with a button that removes it. */
export function FilterChips({ filters, change }: Pick<SearchState, 'filters' | 'change'>) {
  const active = dimensions.filter(({ field }) => filters[field] !== undefined)
  if (active.length === 0) return null
  const removed = Object.fromEntries(active.map(({ field }) => [field, undefined]))
  return (
    <Group gap="xs" mb="md" role="group" aria-label="Filters">
      {active.map(({ group, field, label }) => {
        const shown = shownKey(group, filters[field])
        return (
          <Badge
            key={field}
            size="lg"
            variant="default"
            maw="100%"
            rightSection={
              <ActionIcon
                size="xs"
                variant="transparent"
                color="gray"
                aria-label={`Remove filter ${label} ${shown}`}
                data-chip
                onClick={({ currentTarget }) => {
                  leaveFocus(currentTarget)
                  change({ [field]: undefined, group_by: group })
                }}
              >
                <IconX size={14} />
              </ActionIcon>
            }
          >
            {`${label}: ${shown}`}
          </Badge>
        )
      })}
      {active.length > 1 && (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => {
            document.querySelector<HTMLElement>('h1')?.focus()
            change(removed)
          }}
        >
          Remove all
        </Button>
      )}
    </Group>
  )
}
