import { Badge, Text } from '@mantine/core'
import { UsageLink } from './usage-link.tsx'

interface PersonCellProps {
  person: { user_id: string; email: string; display_name?: string | undefined }
}

/**
 * A person in a table: the name, which leads to their page, with the address below it, or the address alone. Give rows
 * the height `personRow`.
 */
export function PersonCell({ person: { user_id, email, display_name } }: PersonCellProps) {
  return (
    <>
      <Text size="sm" fw={600} truncate>
        <UsageLink group="user" id={user_id} title={display_name ?? email} inRow>
          {display_name ?? email}
        </UsageLink>
      </Text>
      {display_name && (
        <Text size="xs" c="dimmed" truncate title={email}>
          {email}
        </Text>
      )}
    </>
  )
}

/** The height of a row with two lines per person, in pixels. */
export const personRow = 56

/** Shows whether a person may sign in. */
export function PersonState({ active }: { active: boolean }) {
  return (
    <Badge color={active ? 'seal' : 'gray'} variant="light">
      {active ? 'Active' : 'Deactivated'}
    </Badge>
  )
}
