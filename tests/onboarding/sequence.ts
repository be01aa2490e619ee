import { expect } from 'vitest'
import { client, ssoPath } from '../auth/oidc-lab.ts'
import { scaled } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'
import { healthPath, type OnboardingLab, tenant } from './onboarding-lab.ts'

export const scimPath = '/api/v1/identity/scim/configure'
export const syncPath = '/api/v1/roster/scim:sync'
export const connectorsPath = '/api/v1/llm/connectors'
export const provisionPath = '/api/v1/hub/provision'
export const coworkPath = '/api/v1/skill-entitlement/coworks/office'
export const republishPath = '/api/v1/skill-entitlement/distribution:republish'

const kinds = [
  'tenant.config_changed',
  'connector.added',
  'roster.scim_sync_completed',
  'hub.provisioned',
  'cmek.key_created',
  'rbac.archetype_assigned',
  'skill.entitlement_changed',
  'tenant.live',
] as const
type Kind = (typeof kinds)[number]

const skill = (id: string) => ({
  skill_id: id,
  skill_version: '1.0.0',
  name: `Skill ${id}`,
  manifest: { skill_md: `Do ${id}.` },
})
export const pack = {
  name: 'Office',
  skills: [skill('summarise'), skill('translate')],
  archetype_ids: ['analyst', 'writer'],
}

export const bodies = (lab: OnboardingLab) => ({
  sso: { issuer: lab.provider.issuer, ...client, allowed_email_domains: ['initech.example'] },
  scim: {
    mode: 'pull',
    base_url: lab.source.baseUrl,
    bearer_token: lab.source.token,
    group_archetype_map: [
      { group: 'Analysts', archetype_id: 'analyst' },
      { group: 'Writers', archetype_id: 'writer' },
    ],
  },
  connector: {
    platform: 'custom:desk',
    display_name: 'Desk',
    delivery: 'push',
    publish_url: lab.receiver.url,
    credentials: { bearer_token: 'token-of-the-desk-1234' },
  },
})

async function counts(lab: OnboardingLab): Promise<Record<Kind, number>> {
  const all = await Promise.all(kinds.map(async (kind) => [kind, await lab.countEvents(kind)] as const))
  return Object.fromEntries(all) as Record<Kind, number>
}

/** Runs a step, and says which events it wrote, and how many of each. */
async function writes(lab: OnboardingLab, step: () => Promise<unknown>): Promise<Partial<Record<Kind, number>>> {
  const before = await counts(lab)
  await step()
  const after = await counts(lab)
  const added = kinds.map((kind) => [kind, after[kind] - before[kind]] as const)
  return Object.fromEntries(added.filter(([, count]) => count !== 0))
}

/**
 * An endpoint of interface section 4.4: does what it should, writes these events, and when it is repeated answers the
 * same and writes none. The twin answers the same once more. A secret that it makes is shown once, by the first answer.
 */
async function configureTwice(
  lab: OnboardingLab,
  step: { method: string; path: string; body: unknown; status?: number; twin?: string },
): Promise<Partial<Record<Kind, number>>> {
  const { method, path, body, status = 200 } = step
  const answers: unknown[] = []
  const secretsShown: (string | undefined)[] = []
  const once = async () => {
    const answer = await lab.call(method, path, body)
    expect([path, answer.status, answer.text]).toEqual([path, status, answer.text])
    const { inbound, ...rest } = answer.body as { inbound?: { connection_id: string; secret?: string } }
    secretsShown.push(inbound?.secret)
    answers.push({ ...rest, ...(inbound && { inbound: { connection_id: inbound.connection_id } }) })
  }
  const first = await writes(lab, once)
  expect([path, await writes(lab, once)]).toEqual([path, {}])
  expect(answers[1]).toEqual(answers[0])
  expect(secretsShown[1]).toBeUndefined()
  const secrets = JSON.stringify(answers)
  for (const secret of [client.client_secret, lab.source.token, 'token-of-the-desk-1234']) {
    expect(secrets).not.toContain(secret)
  }
  expect(await lab.must('GET', step.twin ?? path)).toEqual(answers[0])
  return first
}

/** Takes the tenant from nothing to live. */
export async function takeLive(lab: OnboardingLab): Promise<void> {
  const people = lab.source.users.length
  const { sso, scim, connector } = bodies(lab)
  expect(await lab.red()).toEqual(['identity', 'platforms', 'hub', 'roster', 'skills', 'telemetry'])

  const details = { method: 'PUT', path: '/api/v1/tenant', body: { display_name: 'Initech' } }
  expect(await configureTwice(lab, details)).toEqual({ 'tenant.config_changed': 1 })
  const archetypes = [{ archetype_id: 'analyst' }, { archetype_id: 'writer' }]
  await lab.must('PUT', '/api/v1/roster/archetypes', { archetypes })

  expect(await configureTwice(lab, { method: 'POST', path: ssoPath, body: sso })).toEqual({ 'connector.added': 1 })
  expect(await configureTwice(lab, { method: 'POST', path: scimPath, body: scim })).toEqual({ 'connector.added': 1 })

  const pulled = await writes(lab, async () => {
    const ordered = await lab.call('POST', syncPath)
    expect([ordered.status, ordered.headers.location]).toEqual([
      202,
      `/api/v1/roster/scim-syncs/${ordered.body.sync_id}`,
    ])
    const again = await lab.call('POST', syncPath)
    expect([again.status, again.body.sync_id]).toEqual([202, ordered.body.sync_id])
    const sync = await lab.settled(String(ordered.headers.location), 'completed', scaled(60_000))
    expect(sync).toMatchObject({ added: people, deactivated: 0, unmatched: 0 })
    expect(await lab.must('GET', syncPath)).toEqual(sync)
  })
  // Besides, one for each person and group that is new.
  const created = people + lab.source.groups.length
  expect(pulled).toEqual({
    'roster.scim_sync_completed': 1,
    'rbac.archetype_assigned': people,
    'tenant.config_changed': created,
  })

  const provision = { method: 'POST', path: provisionPath, body: { retention_days: 2555 } }
  expect(await configureTwice(lab, provision)).toEqual({ 'hub.provisioned': 1 })

  await lab.must('PUT', coworkPath, pack)
  const applied = await writes(lab, async () => {
    expect(await lab.must('POST', `${coworkPath}/apply`, { dry_run: true })).toMatchObject({ dry_run: true })
    const application = await lab.must('POST', `${coworkPath}/apply`)
    expect(application).toMatchObject({ published: ['summarise', 'translate'], unchanged: false })
    expect(application.granted).toHaveLength(4)
    expect(await lab.must('GET', `${coworkPath}/apply`)).toEqual(application)
  })
  expect(applied).toEqual({ 'skill.entitlement_changed': 1 })
  const again = await writes(lab, async () => {
    expect(await lab.must('POST', `${coworkPath}/apply`)).toMatchObject({ unchanged: true })
  })
  expect(again).toEqual({})

  const connectors = await writes(lab, async () => {
    const { status, body } = await lab.call('POST', connectorsPath, connector)
    const repeated = await lab.call('POST', connectorsPath, connector)
    expect([status, repeated.status, repeated.body.connector_id]).toEqual([201, 201, body.connector_id])
    expect(JSON.stringify([body, repeated.body])).not.toContain('token-of-the-desk-1234')
    const { items } = await lab.must('GET', connectorsPath)
    expect(items.map((each: { connector_id: string }) => each.connector_id)).toEqual([body.connector_id])
  })
  expect(connectors).toEqual({ 'connector.added': 1 })
  await republish(lab)

  // All but the first event.
  expect(await lab.red()).toEqual(['telemetry'])
  expect(await lab.must('GET', healthPath)).toMatchObject({ live: false })
  const live = await writes(lab, async () => {
    for (let round = 0; round < 2; round += 1) {
      const sent = event({ skill_id: 'summarise', archetype_id: 'analyst', user_id: 'user:person-0@initech.example' })
      await lab.must('POST', '/api/v1/telemetry/events', sent)
    }
  })
  expect(live).toEqual({ 'tenant.live': 1 })
}

/** Publishes to every connector, and waits until that is over. */
export async function republish(lab: OnboardingLab, status = 'completed') {
  const ordered = await lab.call('POST', republishPath)
  expect([ordered.status, typeof ordered.body.job_id]).toEqual([202, 'string'])
  const done = await lab.settled(String(ordered.headers.location), status)
  expect(await lab.must('GET', republishPath)).toEqual(done)
  return done
}

/** The tenant is live, with every figure. */
export async function expectLive(lab: OnboardingLab): Promise<void> {
  const health = await lab.must('GET', healthPath)
  expect(health, JSON.stringify(health)).toMatchObject({
    tenant_slug: tenant,
    live: true,
    live_since: expect.stringMatching(/\.\d{6}Z$/),
    checks: {
      identity: { ok: true, sso_configured: true, sso_healthy: true, scim_configured: true, scim_mode: 'pull' },
      platforms: { ok: true, connected: 1, publishing: 1, failing: 0 },
      hub: { ok: true, provisioned: true },
      roster: { ok: true, unmatched: 0 },
      skills: { ok: true, published: 2, granted: 2, grants: 4 },
      telemetry: { ok: true, events_received: 2 },
    },
  })
}
