import { Button, Group, Stack, Text } from '@mantine/core'
import type { ApiResponse } from '../../api/api-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import type { Person } from './people-table.tsx'

/** An invited person with the invitation, or with the error that prevented it. */
export interface Invited {
  person: Pick<Person, 'email'>
  invitation?: ApiResponse<'inviteUser'>
  error?: unknown
}

/** Shows where an invitation went, or its link, once. */
export function InvitationDialog({ invited, onClose }: { invited: Invited | undefined; onClose(): void }) {
  return (
    <Dialog opened={invited !== undefined} onClose={onClose} title="Invitation" size="lg" centered>
      {invited && (
        <Stack>
          {invited.invitation ? (
            <Delivered email={invited.person.email} invitation={invited.invitation} />
          ) : (
            <>
              <ProblemNotice error={invited.error} title="The invitation was not made" />
              <Text size="sm">{invited.person.email} is a user now. Send the invitation from the menu of the row.</Text>
            </>
          )}
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  )
}

function Delivered({ email, invitation }: { email: string; invitation: ApiResponse<'inviteUser'> }) {
  const { url, sign_in, expires_at } = invitation
  return (
    <>
      {url === undefined ? (
        <Text size="sm">The Hub mails the invitation to {email}.</Text>
      ) : (
        <>
          <Text size="sm">
            {sign_in === 'link'
              ? `Hand this link over to ${email}.`
              : `Hand this link to the sign-in page over to ${email}.`}
          </Text>
          <CopyField value={url} label="Copy link" />
        </>
      )}
      {sign_in === 'link' ? (
        <Notice kind="info" title="Anyone who has the link can sign in">
          <Text size="sm">
            It works once, for the first sign-in only, until{' '}
            {expires_at === undefined ? 'tomorrow' : <TimeText iso={expires_at} />}.
            {url !== undefined && ' It is not shown again; a new invitation replaces it.'}
          </Text>
        </Notice>
      ) : (
        <Text size="sm" c="dimmed">
          The address signs nobody in: this tenant has single sign-on, so the identity provider decides who may sign in.
        </Text>
      )}
    </>
  )
}
