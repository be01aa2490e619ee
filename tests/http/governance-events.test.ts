import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operations } from '../../contract/operations.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import { createServiceEvents } from '../../server/modules/governance/service-events.ts'
import type { GovernanceEventRecord } from '../auth/auth-lab.ts'
import { client, type OidcLab, ssoPath, startOidcLab } from '../auth/oidc-lab.ts'
import { type SignedInPerson, signIn } from '../auth/people.ts'
import { waitingSync } from '../roster-sync/waiting-sync.ts'
import type { Answer } from '../support/hub.ts'
import { ofTenant, operatorToken } from '../tenants/operator-lab.ts'

const requestId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const records = '/api/v1/hub/records'
const users = '/api/v1/roster/users'
const accounts = '/api/v1/service-accounts'
const holds = '/api/v1/hub/legal-holds'
const scimPath = '/api/v1/identity/scim/configure'
const connectors = '/api/v1/llm/connectors'

let lab: OidcLab
/** Made by the cases before. */
const made: Record<string, string> = {}
/** Never to be found in an event. */
const secrets: string[] = ['a secret of the provider', 'person-one@acme.example']
let person: SignedInPerson

beforeAll(async () => {
  lab = await startOidcLab({ hub: { settings: { HUB_OPERATOR_TOKEN: operatorToken } } })
  await call('POST', records, { record_type: 'skill_definition', skill_id: 's', skill_version: '1.0.0', name: 's' })
  made.record = (await call('POST', records, { record_type: 'artifact', title: 'x' })).body.record_id
  made.other = (await call('POST', records, { record_type: 'artifact', title: 'y' })).body.record_id
  made.event = (await call('POST', records, { record_type: 'governance_event', event_kind: 'custom.x' })).body.record_id
})
afterAll(() => lab.close())

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'x-service-request-id': requestId }
  const answer = await lab.hub.call('acme', method, path, { ...(body !== undefined && { body }), headers })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

async function operate(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'x-service-request-id': requestId, 'x-service-tenant': undefined }
  const answer = await lab.hub.call('acme', method, path, {
    token: operatorToken,
    headers,
    ...(body !== undefined && { body }),
  })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

/** As the browser of {@link person}. */
async function browse(method: string, path: string) {
  const answer = await person.browser.call(method, path, { headers: { 'x-service-request-id': requestId } })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status}`)
}

interface Case {
  /** Does it so that something changes, and answers what the event is about. */
  run(): Promise<string>
  kind: string
  /** `change` among the details. */
  change?: string
  /** The state that it changed, and what it changed to; both unless it says less: the rest follows from the kind. */
  states?: 'both' | 'after' | 'none'
  by?: 'person' | 'operator'
}

/** Writes none, and why. */
interface Without {
  without: string
}

const config = 'tenant.config_changed'
const ofAcme = async (answer: Promise<Answer>) => {
  await answer
  return 'tenant:acme'
}

/**
 * Every operation that may change something, in an order in which each finds what it needs. One that is missing fails
 * the test: give it an event, or say why it needs none.
 */
const table: Partial<Record<OperationId, Case | Without>> = {
  writeRecord: { without: 'the record is the evidence itself' },
  verifyRecord: { without: 'changes nothing; what it finds is hub.tamper_detected' },
  ingestEvent: { without: 'the record is the evidence itself' },
  ingestBatch: { without: 'the records are the evidence themselves' },
  issueServiceToken: { without: 'a token every hour tells nothing; refusals are auth.login_failed' },
  issueUserToken: { without: 'goes on with a session, whose beginning is auth.login; reuse has an event of its own' },
  requestMagicLink: { without: 'anybody can ask for a link; its use is auth.login' },

  rotateContentKey: { without: 'its event stands in the log of a Mode B tenant: see rotate-content-key.test.ts' },
  destroyContentKeys: { without: 'its event stands in the log of a Mode B tenant: see destroy-content-keys.test.ts' },
  createTenant: { without: 'its event stands in the log of the new tenant: see create-tenant.test.ts' },
  updateTenant: {
    run: () =>
      ofAcme(operate('PATCH', ofTenant('acme'), { display_name: 'Acme', admin_email: 'person-one@acme.test' })),
    kind: config,
    change: 'tenant',
    by: 'operator',
  },
  createWelcomeLink: {
    run: async () => {
      const { body } = await operate('POST', ofTenant('acme', ':welcome-link'))
      secrets.push(body.welcome_url.split('/').at(-1), body.admin_email)
      return 'tenant:acme'
    },
    kind: config,
    change: 'welcome_link',
    states: 'after',
    by: 'operator',
  },
  replaceTenant: {
    run: () => ofAcme(call('PUT', '/api/v1/tenant', { display_name: 'Acme', contact_email: 'person-two@acme.test' })),
    kind: config,
    change: 'details',
  },
  createServiceAccount: {
    run: async () => {
      const { body } = await call('POST', accounts, { name: 'made', scopes: ['hub:read'] })
      made.account = body.client_id
      secrets.push(body.client_secret)
      return `service_account:${made.account}`
    },
    kind: config,
    change: 'service_account_created',
  },
  updateServiceAccount: {
    run: async () => {
      await call('PATCH', `${accounts}/${made.account}`, { scopes: ['hub:write'] })
      return `service_account:${made.account}`
    },
    kind: config,
    change: 'service_account_changed',
  },
  rotateServiceAccountSecret: {
    run: async () => {
      const { body } = await call('POST', `${accounts}/${made.account}:rotate-secret`)
      secrets.push(body.client_secret)
      return `service_account:${made.account}`
    },
    kind: config,
    change: 'service_account_secret_rotated',
    states: 'after',
  },
  disableServiceAccount: {
    run: async () => {
      await call('DELETE', `${accounts}/${made.account}`)
      return `service_account:${made.account}`
    },
    kind: config,
    change: 'service_account_disabled',
  },
  createUser: {
    run: async () => {
      made.user = (await call('POST', users, { email: 'person-one@acme.example' })).body.user_id
      return `user:${made.user}`
    },
    kind: config,
    change: 'user_created',
  },
  replaceUserRole: {
    run: async () => {
      await call('PUT', `${users}/${made.user}/role`, { role: 'auditor' })
      return `user:${made.user}`
    },
    kind: config,
    change: 'user_role',
  },
  deactivateUser: {
    run: async () => {
      await call('POST', `${users}/${made.user}:deactivate`)
      return `user:${made.user}`
    },
    kind: config,
    change: 'user_deactivated',
  },
  reactivateUser: {
    run: async () => {
      await call('POST', `${users}/${made.user}:reactivate`)
      return `user:${made.user}`
    },
    kind: config,
    change: 'user_reactivated',
  },
  mockLogIn: {
    run: async () => {
      const { body } = await call('POST', '/api/v1/auth/mock-login', {
        email: 'person-one@acme.example',
        tenant: 'acme',
      })
      secrets.push(body.access_token, body.refresh_token)
      return `user:${made.user}`
    },
    kind: 'auth.login',
    states: 'none',
    by: 'person',
  },
  endSession: {
    run: async () => {
      person = await signIn(lab.hub, 'acme')
      const again = await signIn(lab.hub, 'acme', { email: 'person-two@acme.example' })
      person = again
      await browse('DELETE', `/api/v1/auth/sessions/${again.session.sessionId}`)
      return `user:${person.user.userId}`
    },
    kind: 'auth.logout',
    states: 'none',
    by: 'person',
  },
  logOut: {
    run: async () => {
      person = await signIn(lab.hub, 'acme')
      await browse('POST', '/api/v1/auth/logout')
      return `user:${person.user.userId}`
    },
    kind: 'auth.logout',
    states: 'none',
    by: 'person',
  },
  configureSso: {
    run: async () => {
      const body = { issuer: lab.provider.issuer, ...client, allowed_email_domains: ['acme.example'] }
      const answer = await call('POST', ssoPath, body)
      await call('POST', ssoPath, { ...body, allowed_email_domains: ['acme.example', 'acme.test'] })
      return `connection:${answer.body.connection_id}`
    },
    kind: config,
    change: 'sso',
  },
  testSso: { without: 'changes nothing' },
  testScim: { without: 'changes nothing' },
  configureScim: {
    run: async () => {
      const { items } = (await call('GET', '/api/v1/roster/archetypes')).body
      await call('PUT', '/api/v1/roster/archetypes', { archetypes: [...items, { archetype_id: 'of-a-group' }] })
      const { body } = await call('POST', scimPath, { mode: 'push' })
      secrets.push(body.bearer_token)
      const group_archetype_map = [{ group: 'Analysts', archetype_id: 'of-a-group' }]
      await call('POST', scimPath, { mode: 'push', group_archetype_map })
      made.scim = body.connection_id
      return `connection:${made.scim}`
    },
    kind: config,
    change: 'scim',
  },
  rotateScimToken: {
    run: async () => {
      secrets.push((await call('POST', '/api/v1/identity/scim:rotate-token')).body.bearer_token)
      return `connection:${made.scim}`
    },
    kind: config,
    change: 'scim_token_rotated',
    states: 'after',
  },
  syncRoster: { without: 'it is told of when it ends, by roster.scim_sync_completed' },
  confirmRosterSync: {
    run: async () => {
      const syncId = await waitingSync(lab.hub, 'acme')
      await call('POST', `/api/v1/roster/scim-syncs/${syncId}:confirm`)
      return `sync:${syncId}`
    },
    kind: 'roster.scim_sync_confirmed',
    states: 'none',
  },
  cancelRosterSync: {
    run: async () => {
      const syncId = await waitingSync(lab.hub, 'acme')
      await call('POST', `/api/v1/roster/scim-syncs/${syncId}:cancel`)
      return `sync:${syncId}`
    },
    kind: 'roster.scim_sync_cancelled',
    states: 'none',
  },
  removeScim: {
    run: async () => {
      await call('DELETE', scimPath)
      return `connection:${made.scim}`
    },
    kind: config,
    change: 'scim_removed',
  },
  removeSso: {
    run: async () => {
      const { connection_id } = (await call('GET', ssoPath)).body
      await call('DELETE', ssoPath)
      return `connection:${connection_id}`
    },
    kind: config,
    change: 'sso_removed',
  },
  provisionHub: {
    run: async () => {
      await call('POST', '/api/v1/hub/provision', { retention_days: 30 })
      return ofAcme(call('POST', '/api/v1/hub/provision', { retention_days: 40 }))
    },
    kind: config,
    change: 'provision',
  },
  replaceArchetypes: {
    run: () => ofAcme(call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'a' }] })),
    kind: config,
    change: 'archetypes',
    states: 'none',
  },
  replaceUserArchetypes: {
    run: async () => {
      await call('PUT', `${users}/${made.user}/archetypes`, { archetype_ids: ['a'] })
      return `user:${made.user}`
    },
    kind: 'rbac.archetype_assigned',
  },
  resetUserArchetypes: {
    run: async () => {
      await call('DELETE', `${users}/${made.user}/archetypes`)
      return `user:${made.user}`
    },
    kind: 'rbac.archetype_assigned',
  },
  transitionSkill: {
    run: async () => {
      await call('POST', '/api/v1/skill-entitlement/skills/s:transition', { state: 'published' })
      return 'skill:s'
    },
    kind: 'skill.entitlement_changed',
    change: 'state',
  },
  replaceCowork: {
    run: async () => {
      const skills = [{ skill_id: 'packed', skill_version: '1.0.0', name: 'a secret of the provider' }]
      await call('PUT', '/api/v1/skill-entitlement/coworks/pack', { name: 'Pack', skills, archetype_ids: ['a'] })
      return 'cowork:pack'
    },
    kind: config,
    change: 'cowork',
  },
  applyCowork: {
    run: async () => {
      await call('POST', '/api/v1/skill-entitlement/coworks/pack/apply')
      return 'cowork:pack'
    },
    kind: 'skill.entitlement_changed',
    change: 'cowork_applied',
  },
  replaceArchetypeGrants: {
    run: async () => {
      await call('PUT', '/api/v1/skill-entitlement/archetypes/a/grants', { skill_ids: ['s'] })
      return 'archetype:a'
    },
    kind: 'skill.entitlement_changed',
    change: 'grants',
    states: 'none',
  },
  checkEntitlements: { without: 'reads only' },
  createConnector: {
    run: async () => {
      const body = { platform: 'claude', display_name: 'Claude', delivery: 'pull' }
      const credentials = { api_key: 'a-secret-of-the-connector' }
      secrets.push(credentials.api_key)
      made.connector = (await call('POST', connectors, { ...body, credentials })).body.connector_id
      return `connector:${made.connector}`
    },
    kind: 'connector.added',
    states: 'none',
  },
  updateConnector: {
    run: async () => {
      await call('PATCH', `${connectors}/${made.connector}`, { display_name: 'Claude, legal' })
      return `connector:${made.connector}`
    },
    kind: config,
    change: 'connector',
  },
  rotateConnectorCredentials: {
    run: async () => {
      secrets.push('another-secret-of-the-connector')
      const credentials = { bearer_token: 'another-secret-of-the-connector' }
      await call('POST', `${connectors}/${made.connector}:rotate-credentials`, { credentials })
      return `connector:${made.connector}`
    },
    kind: config,
    change: 'connector_credentials_rotated',
  },
  testConnector: { without: 'changes nothing, the health of the connector included' },
  removeConnector: {
    run: async () => {
      await call('DELETE', `${connectors}/${made.connector}`)
      return `connector:${made.connector}`
    },
    kind: config,
    change: 'connector_removed',
    states: 'both',
  },
  republishSkills: {
    run: async () => {
      const { body } = await call('POST', '/api/v1/skill-entitlement/distribution:republish')
      return `republish:${body.job_id}`
    },
    kind: 'skill.entitlement_changed',
    change: 'republished',
    states: 'none',
  },
  replacePrices: {
    run: () => {
      const price = {
        llm_model: 'm',
        input_usd_per_mtok: 1,
        output_usd_per_mtok: 2,
        effective_from: '2026-01-01T00:00:00Z',
      }
      return ofAcme(call('PUT', '/api/v1/telemetry/prices', { prices: [price] }))
    },
    kind: config,
    change: 'prices',
  },
  rateTelemetryAgain: {
    run: () => ofAcme(call('POST', '/api/v1/telemetry/prices:rerate', { from: '2026-01-01T00:00:00Z' })),
    kind: 'telemetry.rerated',
    states: 'none',
  },
  placeHold: {
    run: async () => {
      made.hold = (
        await call('POST', holds, { name: 'matter', reason: 'court', record_ids: [made.other] })
      ).body.hold_id
      return `hold:${made.hold}`
    },
    kind: 'hub.legal_hold_applied',
    states: 'after',
  },
  releaseHold: {
    run: async () => {
      await call('POST', `${holds}/${made.hold}:release`, { reason: 'over' })
      return `hold:${made.hold}`
    },
    kind: 'hub.legal_hold_released',
  },
  replaceRetentionRules: {
    run: () => ofAcme(call('PUT', '/api/v1/hub/retention-rules', { rules: [{ record_type: 'output', min_days: 1 }] })),
    kind: config,
    change: 'retention_rules',
  },
  releaseRecord: {
    run: async () => {
      await call('POST', `${records}/${made.event}/legal-hold-releases`, { reason: 'free' })
      return `record:${made.event}`
    },
    kind: 'hub.legal_hold_released',
    states: 'none',
  },
  purgeRecord: {
    run: async () => {
      await call('DELETE', `${records}/${made.record}?reason=asked`)
      return `record:${made.record}`
    },
    kind: 'hub.record_purged',
    states: 'none',
  },
  restoreRecord: {
    run: async () => {
      await call('POST', `${records}/${made.record}:restore`)
      return `record:${made.record}`
    },
    kind: 'hub.record_restored',
    states: 'none',
  },
  createExport: {
    run: async () => {
      made.export = (await call('POST', `${records}:export`, { format: 'jsonl' })).body.job_id
      return `export:${made.export}`
    },
    kind: 'hub.export_created',
    states: 'none',
  },
  cancelExport: {
    run: async () => {
      const { body } = await call('POST', `${records}:export`, { format: 'jsonl', filter: { record_type: ['output'] } })
      await call('POST', `/api/v1/hub/exports/${body.job_id}:cancel`)
      return `export:${body.job_id}`
    },
    kind: 'hub.export_cancelled',
    states: 'none',
  },
}

const changing = Object.entries(operations)
  .filter(([, { method }]) => method !== 'GET')
  .map(([id]) => id as OperationId)
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
    await expect.poll(added, { timeout: 15_000 }).toHaveLength(1)
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
  })

  test('and never a secret, nor the address of a person', async () => {
    const text = JSON.stringify(await lab.events('acme'))
    expect(secrets.length).toBeGreaterThan(5)
    for (const secret of secrets) expect(text).not.toContain(secret)
    expect(text).not.toMatch(/person-\w+@/)
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
        const governance = createGovernanceLog(lab.hub.modules.recordStore.records)
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
    'connector',
    'connector_credentials_rotated',
    'connector_removed',
    'cowork',
    'cowork_applied',
    'created',
    'details',
    'grants',
    'prices',
    'provenance_key',
    'provision',
    'republished',
    'retention_rules',
    'scim',
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
    'user_reactivated',
    'user_role',
    'welcome_link',
  ])
})
