import { Button, Group, Pill } from '@mantine/core'
import { describeFilter } from './filter-labels.ts'
import { activeFilters, type FilterName } from './record-query.ts'
import type { RecordsSearch } from './records-search.ts'

interface FilterChipsProps {
  search: RecordsSearch
  onRemove(name: FilterName): void
  onClear(): void
}

/** Shows the filters, each with a button that removes it. */
export function FilterChips({ search, onRemove, onClear }: FilterChipsProps) {
  const active = activeFilters(search)
  if (active.length === 0) return null
  return (
    <Group gap={6} role="group" aria-label="Filters that are set">
      {active.map(({ name, value }) => (
        <Pill
          key={name}
          size="md"
          withRemoveButton
          onRemove={() => onRemove(name)}
          removeButtonProps={{
            'aria-label': `Remove ${describeFilter(name, value)}`,
            tabIndex: 0,
            'aria-hidden': false,
          }}
        >
          {describeFilter(name, value)}
        </Pill>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear all
      </Button>
    </Group>
  )
}
