import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { EventBus } from '../../server/event-bus.ts'
import { createGovernanceLog, createServiceEvents } from '../../server/modules/governance/governance-log.ts'
import type { GovernanceEventRecord } from '../auth/auth-lab.ts'
import type { OidcLab } from '../auth/oidc-lab.ts'
import { openEventCases, requestId, secrets, table } from './governance-event-cases.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await openEventCases()
})
afterAll(() => lab.close())

const changing = Object.entries(operations)
  .filter(([, { method }]) => method !== 'GET')
  .map(([id]) => id)
const cases = Object.entries(table).flatMap(([id, each]) => ('run' in each ? [[id, each] as const] : []))

test('each operation that may change something has a case', () => {
  expect(Object.keys(table).sort()).toEqual([...changing].sort())
})

describe('who, from where, by which request, and what', () => {
  test.each(cases)('%s', async (_, { run, kind, change, states = 'both', by }) => {
    const before = await lab.events('acme')
    const subject = await run()
    const isIt = (event: GovernanceEventRecord) =>
      event.event_kind === kind &&
      event.subject === subject &&
      (change === undefined || event.details.change === change)
    const added = async () => (await lab.events('acme')).slice(before.length).filter(isIt)
    await expect.poll(added).toHaveLength(1)
    const [event] = await added()
    const person = subject.replace('user:', '')
    const actor = by === 'person' ? person : by === 'operator' ? 'operator:api' : await lab.hub.clientId('acme')
    expect(event).toMatchObject({
      created_by: 'service:hub',
      details: { actor, address: '127.0.0.1', request_id: requestId },
    })
    const shown = { both: ['before', 'after'], after: ['after'], none: [] }[states]
    expect(Object.keys(event!.details)).toEqual(expect.arrayContaining(shown))
    if (states === 'both') expect(event!.details.before).not.toEqual(event!.details.after)
    if (!event!.details.row_digests) return
    const swept = await lab.hub.modules.hub.sweeper.sweep(await lab.hub.tenant('acme'))
    expect(swept).toMatchObject({ failed: 0, inconsistent: 0 })
  })

  test('and never a secret, nor the address of a person', async () => {
    const text = JSON.stringify(await lab.events('acme'))
    expect(secrets.length).toBeGreaterThan(5)
    for (const secret of secrets) expect(text).not.toContain(secret)
    expect(text).not.toMatch(/person-\w+@/)
  })

  test('and a digest of the row that lets somebody in from then on', async () => {
    const named = (await lab.events('acme')).flatMap(({ event_kind, details }) =>
      Object.keys((details?.row_digests as object | undefined) ?? {}).map(
        (table) => `${details?.change ?? event_kind} ${table}`,
      ),
    )
    const sso = ['connector.added', 'sso', 'sso_removed'].map((change) => `${change} hub.sso_connections`)
    const scim = ['connector.added', 'scim', 'scim_removed', 'scim_token_rotated'].map(
      (change) => `${change} hub.scim_configurations`,
    )
    const accounts = ['changed', 'created', 'disabled', 'secret_rotated'].map(
      (change) => `service_account_${change} hub.service_accounts`,
    )
    const all = [...sso, ...scim, ...accounts, 'tenant hub.tenant_settings']
    expect([...new Set(named)].sort()).toEqual(all.sort())
  })
})

describe('what an operator does on the command line', () => {
  const operator = { operator: 'test' }
  const byOperator: [string, string, () => Promise<string>][] = [
    [
      'makes a tenant',
      'created',
      async () => {
        const tenant = { slug: 'initech', mode: 'A' as const, adminEmail: 'bill@initech.example' }
        await lab.hub.modules.tenants.administration.create(tenant, operator)
        return 'initech'
      },
    ],
    [
      'makes another welcome link',
      'welcome_link',
      async () => {
        const made = await lab.hub.modules.tenants.administration.welcomeLink('acme', operator)
        secrets.push(made.welcome.url, made.adminEmail)
        return 'acme'
      },
    ],
    [
      'rotates the key of tokens',
      'token_key',
      async () => {
        const { database } = lab.hub.test
        const { directory } = lab.hub.modules.tenants
        const governance = createGovernanceLog({ ...lab.hub.modules.recordStore.records, events: new EventBus() })
        const events = createServiceEvents({ database, directory, governance })
        await events.tell({ subject: 'key:k', details: { change: 'token_key' }, actor: operator })
        return 'globex'
      },
    ],
    [
      'sets a limit',
      'tenant',
      async () => {
        const limits = { 'hub-read': { per_token: 7, per_tenant: 70 } }
        await lab.hub.modules.tenants.operated.update('acme', { limits }, operator)
        return 'acme'
      },
    ],
    [
      'makes a service account',
      'service_account_created',
      async () => {
        const account = { name: 'by operator', scopes: ['hub:read'] as const }
        secrets.push(
          (await lab.hub.modules.auth.serviceAccounts.create(await lab.hub.tenant('acme'), account, operator))
            .client_secret,
        )
        return 'acme'
      },
    ],
    [
      'sets archetypes',
      'archetypes',
      async () => {
        await lab.hub.modules.roster.archetypes.replace(await lab.hub.tenant('acme'), [{ archetype_id: 'b' }], operator)
        return 'acme'
      },
    ],
    [
      'rotates a provenance key',
      'provenance_key',
      async () => {
        await lab.hub.modules.provenanceKeyRotation.rotate(await lab.hub.tenant('acme'), operator)
        return 'acme'
      },
    ],
  ]
  test.each(byOperator)('%s', async (_, change, run) => {
    const count = async (tenant: string) =>
      (await lab.events(tenant as 'acme')).filter(
        ({ details }) => details?.change === change && details.actor === 'operator:test',
      ).length
    const before = await count('acme')
    const tenant = await run()
    expect(await count(tenant)).toBe(tenant === 'acme' ? before + 1 : 1)
  })
})

test('what changed is told by names that stay: they stand in the history of tenants', async () => {
  const events = [...(await lab.events('acme')), ...(await lab.events('globex'))]
  const told = events.map(({ details }) => details?.change).filter((change) => change !== undefined)
  expect([...new Set(told)].sort()).toEqual([
    'archetypes',
    'archetypes_removed',
    'budget',
    'budget_added',
    'budget_removed',
    'connector',
    'connector_credentials_rotated',
    'connector_inbound_secret_rotated',
    'connector_removed',
    'cowork',
    'cowork_applied',
    'created',
    'details',
    'grants',
    'otlp_mapping',
    'prices',
    'provenance_key',
    'provision',
    'republished',
    'retention_rules',
    'scim',
    'scim_inbound_secret_rotated',
    'scim_removed',
    'scim_token_rotated',
    'service_account_changed',
    'service_account_created',
    'service_account_disabled',
    'service_account_secret_rotated',
    'sso',
    'sso_removed',
    'state',
    'tenant',
    'token_key',
    'user_created',
    'user_deactivated',
    'user_invited',
    'user_reactivated',
    'user_role',
    'webhook',
    'webhook_added',
    'webhook_address_tested',
    'webhook_redelivered',
    'webhook_removed',
    'webhook_secret_rotated',
    'webhook_tested',
    'welcome_link',
  ])
})
