import { afterAll, beforeAll, expect, test } from 'vitest'
import { ssoPath } from '../auth/oidc-lab.ts'
import { personEntry } from '../support/scim-source.ts'
import { type OnboardingLab, startOnboardingLab, tenant } from './onboarding-lab.ts'
import {
  bodies,
  connectorsPath,
  coworkPath,
  expectLive,
  provisionPath,
  republish,
  scimPath,
  syncPath,
  takeLive,
} from './sequence.ts'

/** The whole way of a tenant, with few people; tests/full/whole-sequence.test.ts goes it with 5,000. */
let lab: OnboardingLab
beforeAll(async () => {
  lab = await startOnboardingLab(40)
})
afterAll(() => lab.close())

const sql = async (text: string, ...values: unknown[]) =>
  (await lab.hub.superuserClient()).query(text, [tenant, ...values])

async function sync(status = 'completed') {
  const ordered = await lab.call('POST', syncPath)
  return lab.settled(String(ordered.headers.location), status)
}

test('a service account takes a tenant from nothing to live', async () => {
  await takeLive(lab)
  await expectLive(lab)
  // What the platform got is signed, and names the skills with their archetypes.
  const manifest = JSON.parse(lab.receiver.received.at(-1)!.text)
  expect(JSON.stringify(manifest)).toContain('"summarise"')
})

interface Condition {
  name: string
  check: string
  break(): Promise<unknown>
  mend(): Promise<unknown>
}

const syncsPath = '/api/v1/roster/scim-syncs'
let leavers: OnboardingLab['source']['users'] = []

const conditions: Condition[] = [
  {
    name: 'no single sign-on',
    check: 'identity',
    break: () => lab.must('DELETE', ssoPath),
    mend: () => lab.must('POST', ssoPath, bodies(lab).sso),
  },
  {
    name: 'no SCIM configuration',
    check: 'identity',
    break: () => lab.must('DELETE', scimPath),
    mend: async () => {
      await lab.must('POST', scimPath, bodies(lab).scim)
      await sync()
    },
  },
  {
    name: 'a sync more than an hour ago',
    check: 'identity',
    break: () => sql(`update hub.roster_syncs set finished_at = finished_at - interval '1 hour' where tenant_id = $1`),
    mend: () => sync(),
  },
  {
    name: 'no publish within a minute',
    check: 'platforms',
    break: async () => {
      lab.receiver.behaviour = 503
      await republish(lab, 'failed')
      await sql(
        `update hub.connector_deliveries set published_at = published_at - interval '61 seconds' where tenant_id = $1`,
      )
    },
    mend: async () => {
      lab.receiver.behaviour = 200
      await republish(lab)
    },
  },
  {
    name: 'no connector',
    check: 'platforms',
    break: async () => {
      const { items } = await lab.must('GET', connectorsPath)
      for (const { connector_id } of items) await lab.must('DELETE', `${connectorsPath}/${connector_id}`)
    },
    mend: async () => {
      await lab.must('POST', connectorsPath, bodies(lab).connector)
      await republish(lab)
    },
  },
  {
    name: 'a Hub that is not provisioned',
    check: 'hub',
    break: () => sql('update hub.tenant_settings set provisioned_at = null where tenant_id = $1'),
    mend: () => lab.must('POST', provisionPath),
  },
  {
    name: 'a directory that has become empty',
    check: 'roster',
    break: async () => {
      leavers = lab.source.users.splice(0)
      const { sync_id } = await sync('awaiting_confirmation')
      await lab.must('POST', `${syncsPath}/${sync_id}:confirm`)
      expect(await lab.settled(`${syncsPath}/${sync_id}`)).toMatchObject({ status: 'completed', deactivated: 40 })
    },
    mend: async () => {
      lab.source.users.push(...leavers)
      await sync()
    },
  },
  {
    name: 'a person without an archetype',
    check: 'roster',
    break: async () => {
      lab.source.users.push(personEntry('newcomer', 'initech.example'))
      expect(await sync()).toMatchObject({ added: 1, unmatched: 1 })
    },
    mend: async () => {
      const { items } = await lab.must('GET', '/api/v1/roster/users?matched=false')
      expect(items).toHaveLength(1)
      const path = `/api/v1/roster/users/${items[0].user_id}/archetypes`
      await lab.must('PUT', path, { archetype_ids: ['writer'] })
    },
  },
  {
    name: 'skills that are granted to nobody',
    check: 'skills',
    break: async () => {
      for (const archetype of ['analyst', 'writer']) {
        await lab.must('PUT', `/api/v1/skill-entitlement/archetypes/${archetype}/grants`, { skill_ids: [] })
      }
    },
    mend: () => lab.must('POST', `${coworkPath}/apply`),
  },
  {
    name: 'skills that are no longer published',
    check: 'skills',
    break: async () => {
      for (const skill of ['summarise', 'translate']) {
        await lab.must('POST', `/api/v1/skill-entitlement/skills/${skill}:transition`, { state: 'deprecated' })
      }
    },
    mend: async () => {
      for (const skill of ['summarise', 'translate']) {
        await lab.must('POST', `/api/v1/skill-entitlement/skills/${skill}:transition`, { state: 'published' })
      }
    },
  },
]

test.each(conditions)('$name turns exactly $check red, and mended green', async (condition) => {
  expect(await lab.red()).toEqual([])
  await condition.break()
  expect(await lab.red()).toEqual([condition.check])
  await condition.mend()
  await expect.poll(() => lab.red()).toEqual([])
  await expectLive(lab)
})
