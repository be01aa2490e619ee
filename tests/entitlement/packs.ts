import type { Answer, AuthHub } from '../auth/auth-hub.ts'

export const base = '/api/v1/skill-entitlement'
export const coworkPath = (id: string) => `${base}/coworks/${id}`
export const applyPath = (id: string) => `${base}/coworks/${id}/apply`
export const grantsPath = (archetypeId: string) => `${base}/archetypes/${archetypeId}/grants`
export const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** A skill as packs have it. */
export function packSkill(id: string, version = '1.0.0') {
  return { skill_id: id, skill_version: version, name: `Skill ${id}` }
}

/** What tests do with packs and grants, for one tenant. */
export function packsOf(hub: AuthHub, tenant: string) {
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    hub.call(tenant, method, path, body === undefined ? {} : { body })
  return {
    call,
    bundle: (...ids: string[]) =>
      call('PUT', '/api/v1/roster/archetypes', { archetypes: ids.map((archetype_id) => ({ archetype_id })) }),
    put: (id: string, skills: unknown[], archetype_ids: string[] = [], name = `Pack ${id}`) =>
      call('PUT', coworkPath(id), { name, skills, archetype_ids }),
    apply: (id: string, body?: unknown) => call('POST', applyPath(id), body),
    grant: (archetypeId: string, skill_ids: string[]) => call('PUT', grantsPath(archetypeId), { skill_ids }),
    register: (id: string, version = '1.0.0') =>
      call('POST', '/api/v1/hub/records', { record_type: 'skill_definition', ...packSkill(id, version) }),
    transition: (id: string, state: string) => call('POST', `${base}/skills/${id}:transition`, { state }),
    skill: async (id: string) => (await call('GET', `${base}/skills/${id}`)).body,
    /** Every grant, as `archetype skill`, followed by the pack where one gave it. */
    grants: async (): Promise<string[]> => {
      const { items } = (await call('GET', `${base}/grants?limit=1000`)).body
      return items.map((grant: { archetype_id: string; skill_id: string; cowork_id?: string }) =>
        [grant.archetype_id, grant.skill_id, grant.cowork_id].filter((part) => part !== undefined).join(' '),
      )
    },
    /** `skill.entitlement_changed` events about a subject. */
    changes: async (subject: string) =>
      (await hub.events(tenant)).filter(
        (event) => event.event_kind === 'skill.entitlement_changed' && event.subject === subject,
      ),
  }
}
