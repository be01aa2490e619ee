import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DeliveryField } from './delivery-field.tsx'
import type { Invited } from './invitation-dialog.tsx'
import { inviteUser } from './invite-user.ts'
import type { Person } from './people-table.tsx'

interface InviteDialogProps {
  person: Person
  onClose(): void
  onInvited(invited: Invited): void
}

/** Invites a user who was added before and never signed in. A new invitation ends the former link. */
export function InviteDialog({ person, onClose, onInvited }: InviteDialogProps) {
  const form = useMutationForm({
    initialValues: { invitation: 'default' },
    send: async ({ invitation }) => ({ data: await inviteUser(person.user_id, invitation) }),
    onDone: ({ invitation }) => {
      onClose()
      onInvited({ person, invitation })
    },
  })
  return (
    <Dialog opened onClose={onClose} title={`Invite ${person.display_name ?? person.email}`} centered>
      <MutationForm form={form} submit="Invite user" failed="The invitation was not made" onCancel={onClose} isQuestion>
        <DeliveryField
          input={form.getInputProps('invitation')}
          email={person.email}
          description="A link of an earlier invitation ends."
        />
      </MutationForm>
    </Dialog>
  )
}
