import { Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type Role, roleNames } from '../../../contract/roles.ts'
import { hub } from '../../api/api-client.ts'
import { HubProblem } from '../../api/problem.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { roleLabels, roleMeanings } from '../../components/role-labels.ts'
import { Notice } from '../../ui/notice.tsx'
import type { Person } from './people-table.tsx'

/** Assigns another role to a person. */
export function RoleDialog({ person, onClose }: { person: Person; onClose(): void }) {
  const [role, setRole] = useState<Role>(person.role)
  const name = person.display_name ?? person.email

  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Role of ${name}`}
      confirmLabel="Change role"
      send={() =>
        hub.PUT('/api/v1/roster/users/{user_id}/role', {
          params: { path: { user_id: person.user_id } },
          body: { role },
        })
      }
      done={`${name} is ${roleLabels[role].toLowerCase()} now.`}
      refresh={['/api/v1/roster/users']}
      problem={(error) => <RejectedChange error={error} />}
    >
      <Stack>
        <Radio.Group label="Role" value={role} onChange={(value) => setRole(value as Role)}>
          <Stack gap="sm" mt="xs">
            {roleNames.map((each) => (
              <Radio key={each} value={each} label={roleLabels[each]} description={roleMeanings[each]} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          It holds within 5 seconds: access tokens with the former role end, and sessions go on with the new one.
        </Text>
      </Stack>
    </ConfirmDialog>
  )
}

/** Shows why a change was refused: a tenant keeps at least one administrator who can sign in. */
export function RejectedChange({ error }: { error: unknown }) {
  const isLast = error instanceof HubProblem && error.status === 409 && /administrator/.test(error.message)
  if (!isLast) return <ProblemNotice error={error} title="Nothing was changed" />
  return (
    <Notice kind="danger" title="This is the last administrator" urgent>
      Without an administrator nobody could manage the tenant any more. Make somebody else administrator first, then try
      again.
    </Notice>
  )
}
