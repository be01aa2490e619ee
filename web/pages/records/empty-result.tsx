import { Button, Group } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import { canSee } from '../../../contract/record-visibility.ts'
import { useMe } from '../../api/me.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { nameOfFilter } from './filter-labels.ts'
import { activeFilters } from './record-query.ts'
import type { RecordsSearch } from './records-search.ts'

interface NothingFoundProps {
  search: RecordsSearch
  onChange(change: Partial<RecordsSearch>): void
}

/** Shows why the table is empty, and how to find records. */
export function EmptyResult({ search, onChange }: NothingFoundProps) {
  const { scopes, may } = useMe()
  const active = activeFilters(search).filter(({ name }) => name !== 'include_purged')
  const byCost = search.sort?.includes('cost') ?? false
  const seesAll = canSee(scopes, 'output')
  if (active.length === 0 && !byCost) {
    return (
      <EmptyState
        title="No records yet"
        action={may('listConnectors') ? <LinkButton to="/onboarding">Go to onboarding</LinkButton> : undefined}
      >
        {seesAll
          ? 'The first telemetry event, output or decision that a platform sends will be here. Onboarding shows what is missing.'
          : 'Your role sees telemetry events. There are none yet.'}
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="Nothing matches these filters"
      icon={IconSearchOff}
      action={
        <Group gap="xs" justify="center">
          {active.map(({ name }) => (
            <Button key={name} size="xs" variant="default" onClick={() => onChange({ [name]: undefined })}>
              Without {nameOfFilter(name)}
            </Button>
          ))}
          {byCost && (
            <Button size="xs" variant="default" onClick={() => onChange({ sort: undefined })}>
              Newest first
            </Button>
          )}
        </Group>
      }
    >
      {active.length > 1 ? 'All of them have to match. Take one away: ' : 'Take it away, or choose another value. '}
      {search.skill_id && 'Only outputs, telemetry and skill definitions have a skill. '}
      {search.event_kind && 'Only governance events have an event kind. '}
      {byCost && 'Sorting by cost returns only records with a cost. '}
      {!search.include_purged && 'Purged records are left out unless you ask for them. '}
      {!seesAll && 'Your role sees telemetry events only.'}
    </EmptyState>
  )
}
