import { hub } from '../../api/api-client.ts'

/** Invites a user. `default` mails the invitation if the Hub has a mail server. */
export async function inviteUser(userId: string, delivery: string) {
  const { data } = await hub.POST('/api/v1/roster/users/{user_id}:invite', {
    params: { path: { user_id: userId } },
    body: delivery === 'link' ? { delivery: 'link' } : {},
  })
  return { invitation: data! }
}
