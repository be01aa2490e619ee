import { must } from '../../api/webhook-cases.ts'
import { groupSchema, scimClient, userSchema } from '../../scim/scim-client.ts'
import type { TestHub } from '../../support/hub.ts'
import { archetypes, people, roleEmails, skills } from './fixtures.ts'

/** Tenant, archetypes, skills, pack and grants, retention, prices, service accounts. */
export async function organise(hub: TestHub): Promise<void> {
  const call = (method: string, path: string, body?: object) =>
    must(hub, 'acme', method, path, body === undefined ? {} : { body })
  // Whose name stands beside all that is written here.
  await call('PATCH', `/api/v1/service-accounts/${await hub.clientId('acme')}`, { name: 'Records importer' })
  await call('PUT', '/api/v1/tenant', { display_name: 'Acme Europe', contact_email: 'it@acme.example' })
  await call('POST', '/api/v1/hub/provision', { retention_days: 730 })
  await call('PUT', '/api/v1/roster/archetypes', { archetypes })
  for (const { skill_id, skill_version, name, description, state } of skills) {
    const body = { record_type: 'skill_definition', skill_id, skill_version, name, description, owner: 'AI enablement' }
    await call('POST', '/api/v1/hub/records', { ...body, manifest: { skill_md: `# ${name}\n\n${description}` } })
    const states = { draft: [], published: ['published'], deprecated: ['published', 'deprecated'] }[state]
    for (const next of states)
      await call('POST', `/api/v1/skill-entitlement/skills/${skill_id}:transition`, { state: next })
  }
  const pack = skills.filter(({ skill_id }) => skill_id.startsWith('support.'))
  await call('PUT', '/api/v1/skill-entitlement/coworks/support-desk', {
    name: 'Support desk',
    skills: pack.map(({ skill_id, skill_version, name }) => ({ skill_id, skill_version, name })),
    archetype_ids: ['support-agent'],
  })
  await call('POST', '/api/v1/skill-entitlement/coworks/support-desk/apply', {})
  await call('PUT', '/api/v1/skill-entitlement/coworks/revenue', {
    name: 'Revenue team',
    skills: [{ skill_id: 'sales.forecast-note', skill_version: '1.0.0', name: 'Comment a forecast' }],
    archetype_ids: ['account-executive', 'finance-controller'],
  })
  for (const { archetype_id } of archetypes) {
    const granted = skills.filter((skill) => skill.state === 'published' && skill.archetypes.includes(archetype_id))
    const path = `/api/v1/skill-entitlement/archetypes/${archetype_id}/grants`
    await call('PUT', path, { skill_ids: granted.map(({ skill_id }) => skill_id) })
  }
  await call('PUT', '/api/v1/hub/retention-rules', {
    rules: [
      { record_type: 'telemetry_event', max_days: 730 },
      { record_type: 'governance_event', min_days: 365 },
    ],
  })
  await call('PUT', '/api/v1/telemetry/prices', {
    prices: [
      {
        ...{ llm_platform: 'copilot', llm_model: 'gpt-4.1', input_usd_per_mtok: 1.6, output_usd_per_mtok: 6.4 },
        effective_from: '2026-01-01T00:00:00Z',
      },
    ],
  })
  for (const [name, scopes] of [
    ['Nightly import', ['hub:write', 'telemetry:write']],
    ['Warehouse export', ['hub:read', 'telemetry:read']],
  ] as const)
    await call('POST', '/api/v1/service-accounts', { name, scopes })
}

/** A directory that pushes 25 people in 7 groups, one of them mapped to no archetype; and the people of the four roles. */
export async function hire(hub: TestHub): Promise<void> {
  const map = archetypes.map(({ archetype_id, name }) => ({ group: `${name}s`, archetype_id }))
  const configured = await must(hub, 'acme', 'POST', '/api/v1/identity/scim/configure', {
    body: { mode: 'push', group_archetype_map: map },
  })
  const directory = scimClient(hub, 'acme', configured.body.bearer_token)
  const ids = new Map<string, string[]>()
  for (const { email, names, archetypeId } of people) {
    const [givenName, familyName] = names.map((name) => name[0]!.toUpperCase() + name.slice(1))
    const { body, status, text } = await directory.post('/Users', {
      ...{ schemas: [userSchema], userName: email, name: { givenName, familyName }, active: true },
      ...{ displayName: `${givenName} ${familyName}`, emails: [{ value: email, type: 'work', primary: true }] },
    })
    if (status !== 201) throw new Error(text)
    const group = map.find(({ archetype_id }) => archetype_id === archetypeId)?.group ?? 'Contractors'
    ids.set(group, [...(ids.get(group) ?? []), body.id])
  }
  for (const [displayName, members] of ids) {
    const body = { schemas: [groupSchema], displayName, members: members.map((value) => ({ value })) }
    const { status, text } = await directory.post('/Groups', body)
    if (status !== 201) throw new Error(text)
  }
  for (const [role, email] of Object.entries(roleEmails)) {
    const body = { email, role, display_name: `${role[0]!.toUpperCase()}${role.slice(1)} of Acme` }
    const { status, text } = await hub.call('acme', 'POST', '/api/v1/roster/users', { body })
    if (status !== 201 && !(role === 'admin' && status === 409)) throw new Error(text)
  }
}
