import type { AuthHub } from '../auth/auth-hub.ts'
import { packSkill, packsOf } from './packs.ts'

/** People, skills and grants for checks: the names of what each test asks about say what they are. */
export async function prepareChecks(hub: AuthHub) {
  const packs = packsOf(hub, 'acme')
  const users: Record<string, string> = {}
  await packs.bundle('agent', 'counsel', 'idle')
  for (const [name, archetype_ids] of Object.entries({
    kim: ['counsel', 'agent'],
    idle: ['idle'],
    nobody: [],
    gone: ['agent'],
  })) {
    const user = (await packs.call('POST', '/api/v1/roster/users', { email: `${name}@acme.example` })).body.user_id
    const assigned = await packs.call('PUT', `/api/v1/roster/users/${user}/archetypes`, { archetype_ids })
    if (assigned.status !== 200) throw new Error(JSON.stringify(assigned.body))
    users[name] = user
  }
  await packs.call('POST', `/api/v1/roster/users/${users.gone}:deactivate`)

  const states = { published: [], deprecated: ['deprecated'], retired: ['deprecated', 'retired'] }
  await packs.put(
    'all',
    Object.keys(states).map((state) => packSkill(state)),
    ['agent', 'counsel'],
  )
  await packs.apply('all')
  for (const [skill, steps] of Object.entries(states)) for (const state of steps) await packs.transition(skill, state)
  await packs.register('draft')
  await packs.grant('agent', ['published', 'deprecated', 'retired', 'draft'])
  return users
}
