import { Badge, Text } from '@mantine/core'

interface PersonCellProps {
  person: { email: string; display_name?: string | undefined }
}

/** A person in a table: the name with the address below it, or the address alone. Give rows the height `personRow`. */
export function PersonCell({ person: { email, display_name } }: PersonCellProps) {
  return (
    <>
      <Text size="sm" fw={600} truncate title={display_name ?? email}>
        {display_name ?? email}
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
