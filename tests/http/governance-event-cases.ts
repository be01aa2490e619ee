import type { OperationId } from '../../contract/operations.ts'
import { decide, newClient, newPkce, requestOf, responseOf } from '../auth/client-lab.ts'
import { client, type OidcLab, ssoPath, startOidcLab } from '../auth/oidc-lab.ts'
import { type SignedInPerson, signIn } from '../auth/people.ts'
import { waitingSync } from '../roster-sync/waiting-sync.ts'
import type { Answer } from '../support/hub.ts'
import { ofTenant, operatorToken } from '../tenants/operator-lab.ts'
import { recordEventCases } from './record-event-cases.ts'
import { skillEventCases } from './skill-event-cases.ts'
import { webhookEventCases } from './webhook-event-cases.ts'

export const requestId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const records = '/api/v1/hub/records'
const users = '/api/v1/roster/users'
const accounts = '/api/v1/service-accounts'
const budgets = '/api/v1/budgets'
const scimPath = '/api/v1/identity/scim/configure'

let lab: OidcLab
/** What the stage has. */
const stored = { record: '', other: '', event: '' }
/** Made by the cases before. */
const made: Record<string, string> = {}
/** Never to be found in an event. */
export const secrets: string[] = ['a secret of the provider', 'person-one@acme.example']
let person: SignedInPerson

/** The stage that {@link table} is for: call it before any of its cases. */
export async function openEventCases(): Promise<OidcLab> {
  lab = await startOidcLab({ hub: { settings: { HUB_OPERATOR_TOKEN: operatorToken } } })
  await call('POST', records, { record_type: 'skill_definition', skill_id: 's', skill_version: '1.0.0', name: 's' })
  stored.record = (await call('POST', records, { record_type: 'artifact', title: 'x' })).body.record_id
  stored.other = (await call('POST', records, { record_type: 'artifact', title: 'y' })).body.record_id
  stored.event = (
    await call('POST', records, { record_type: 'governance_event', event_kind: 'custom.x' })
  ).body.record_id
  return lab
}

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
const ofAPerson = 'a view is a bookmark of its owner, no configuration of the tenant, also where it is shared'
const ofAcme = async (answer: Promise<Answer>) => {
  await answer
  return 'tenant:acme'
}

/**
 * Every operation that may change something, in an order in which each finds what it needs. One that is missing fails
 * the test: give it an event, or say why it needs none.
 */
export const table: Partial<Record<OperationId, Case | Without>> = {
  writeRecord: { without: 'the record is the evidence itself' },
  verifyRecord: { without: 'changes nothing; what it finds is hub.tamper_detected' },
  ingestEvent: { without: 'the record is the evidence itself' },
  ingestBatch: { without: 'the records are the evidence themselves' },
  callMcp: { without: 'a tool calls another operation, which has an event if it needs one' },
  issueServiceToken: { without: 'a token every hour tells nothing; refusals are auth.login_failed' },
  issueUserToken: { without: 'goes on with a session, whose beginning is auth.login; reuse has an event of its own' },
  requestMagicLink: { without: 'anybody can ask for a link; its use is auth.login' },
  registerClient: { without: 'gives no access and stores nothing; consent is auth.client_authorized' },

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
  inviteUser: {
    run: async () => {
      const { body } = await call('POST', `${users}/${made.user}:invite`)
      secrets.push(body.url.split('/').at(-1))
      return `user:${made.user}`
    },
    kind: config,
    change: 'user_invited',
    states: 'after',
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
  decideAuthorization: {
    run: async () => {
      person = await signIn(lab.hub, 'acme')
      const request = requestOf(await newClient(lab.hub.baseUrl), newPkce())
      const headers = { 'x-service-request-id': requestId }
      const { code = '' } = responseOf(await decide(person, request, { scopes: ['telemetry:read'], headers }))
      secrets.push(code)
      return `user:${person.user.userId}`
    },
    kind: 'auth.client_authorized',
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
  endUserSession: {
    run: async () => {
      const { user, session } = await signIn(lab.hub, 'acme')
      await call('DELETE', `${users}/${user.userId}/sessions/${session.sessionId}`)
      return `user:${user.userId}`
    },
    kind: 'auth.logout',
    states: 'none',
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
      secrets.push(body.bearer_token, body.inbound.secret)
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
  rotateScimInboundSecret: {
    run: async () => {
      secrets.push((await call('POST', '/api/v1/identity/scim:rotate-inbound-secret')).body.secret)
      return `connection:${made.scim}`
    },
    kind: config,
    change: 'scim_inbound_secret_rotated',
    states: 'after',
  },
  receiveInbound: { without: 'its events are those of what it changes: see receive-inbound.test.ts' },
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
  ...skillEventCases(call, secrets),
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
  replaceOtlpMapping: {
    run: () => ofAcme(call('PUT', '/api/v1/telemetry/otlp-mapping', { default_skill_id: 'sum-up' })),
    kind: config,
    change: 'otlp_mapping',
  },
  rateTelemetryAgain: {
    run: () => ofAcme(call('POST', '/api/v1/telemetry/prices:rerate', { from: '2026-01-01T00:00:00Z' })),
    kind: 'telemetry.rerated',
    states: 'none',
  },
  ...recordEventCases(call, () => stored),
  ...webhookEventCases(call, secrets, () => lab.hub),
  createBudget: {
    run: async () => {
      const body = { name: 'b', period: 'day', amount_usd: 1, notify: { emails: ['person-two@acme.example'] } }
      made.budget = (await call('POST', budgets, body)).body.budget_id
      return `budget:${made.budget}`
    },
    kind: config,
    change: 'budget_added',
  },
  updateBudget: {
    run: async () => {
      await call('PATCH', `${budgets}/${made.budget}`, { amount_usd: 2 })
      return `budget:${made.budget}`
    },
    kind: config,
    change: 'budget',
  },
  removeBudget: {
    run: async () => {
      await call('DELETE', `${budgets}/${made.budget}`)
      return `budget:${made.budget}`
    },
    kind: config,
    change: 'budget_removed',
  },
  markNotificationsRead: { without: 'how far a person has read is no configuration of the tenant' },
  createView: { without: ofAPerson },
  updateView: { without: ofAPerson },
  removeView: { without: ofAPerson },
}
