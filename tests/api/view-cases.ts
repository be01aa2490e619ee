import type { Role } from '../../contract/roles.ts'
import { signIn } from '../auth/people.ts'
import { tokenOfPerson } from '../roster/roster-lab.ts'
import type { TestHub } from '../support/hub.ts'

export const viewsPath = '/api/v1/views'

let views = 0

/** A view that can be saved, of a name that no other has. */
export function viewBody(change: object = {}) {
  views += 1
  return { page: 'command-center', name: `View ${views}`, query: 'range=30d&skill_id=contract-review', ...change }
}

/** The token of a new person of acme. */
export async function tokenOf(hub: TestHub, role: Role): Promise<string> {
  const { user } = await signIn(hub, 'acme', { role })
  return tokenOfPerson(hub, 'acme', user.userId)
}

/** A saved view of acme, as it was answered. */
export async function saveView(hub: TestHub, token: string, change: object = {}) {
  const answer = await hub.call('acme', 'POST', viewsPath, { token, body: viewBody(change) })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
