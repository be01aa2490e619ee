import { hub } from '../../api/api-client.ts'

/** How an invitation is delivered, as the form offers it. */
export const deliveries = [
  {
    value: 'default',
    label: 'Mail it',
    description: 'Without a mail server, the Hub shows a link to hand over instead.',
  },
  { value: 'link', label: 'Show a link to copy', description: 'You hand it over yourself, for example by chat.' },
  { value: 'none', label: 'Do not invite', description: 'Adds the user only. You can send an invitation later.' },
]

/** Invites a user. `default` mails the invitation if the Hub has a mail server. */
export async function inviteUser(userId: string, delivery: string) {
  const { data } = await hub.POST('/api/v1/roster/users/{user_id}:invite', {
    params: { path: { user_id: userId } },
    body: delivery === 'link' ? { delivery: 'link' } : {},
  })
  return { invitation: data! }
}
