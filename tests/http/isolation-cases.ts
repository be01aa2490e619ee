import type { OperationId } from '../../contract/operations.ts'
import { event } from '../telemetry/events.ts'

export const unknownId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const records = '/api/v1/hub/records'
const exports = '/api/v1/hub/exports'
const accounts = '/api/v1/service-accounts'
const users = '/api/v1/roster/users'
const groups = '/api/v1/roster/groups'
const log = '/api/v1/hub/log'
const holds = '/api/v1/hub/legal-holds'
const retention = '/api/v1/hub/retention-rules'
const connectors = '/api/v1/llm/connectors'
const webhooks = '/api/v1/webhooks'
const views = '/api/v1/views'
const budgets = '/api/v1/budgets'
const notifications = '/api/v1/notifications'
const syncs = '/api/v1/roster/scim-syncs'
const distribution = '/api/v1/skill-entitlement/distribution'

/** What acme has and globex wants. */
export interface Loot {
  record: string
  governance: string
  clientId: string
  userId: string
  groupId: string
  hold: string
  export: string
  connector: string
  webhook: string
  delivery: string
  view: string
  budget: string
  republish: string
  sync: string
}

export interface Attempt {
  /** With acme's ids. */
  path: string
  body?: unknown
  headers?: Record<string, string>
  /** What globex gets. For 200 to 202 the answer is about globex alone. */
  status: 200 | 201 | 202 | 204 | 400 | 404 | 409 | 422
  /** The same with ids that nobody has: the answer must not differ. */
  withUnknown?: { path: string; body?: unknown }
}

const byId =
  (rest = '', body?: unknown) =>
  (loot: Loot) => [
    attempt(404, `${records}/${loot.record}${rest}`, body, { path: `${records}/${unknownId}${rest}`, body }),
  ]
/** Of one user, by acme's id and by one that nobody has. */
const ofUser =
  (rest = '', body?: unknown) =>
  (loot: Loot) => [
    attempt(404, `${users}/${loot.userId}${rest}`, body, { path: `${users}/usr_${'0'.repeat(24)}${rest}`, body }),
  ]
const ofExport =
  (rest = '') =>
  (loot: Loot) => [
    attempt(404, `${exports}/${loot.export}${rest}`, undefined, { path: `${exports}/exp_${'0'.repeat(24)}${rest}` }),
  ]
const ofConnector =
  (rest = '', body?: unknown) =>
  ({ connector }: Loot) => [
    attempt(404, `${connectors}/${connector}${rest}`, body, {
      path: `${connectors}/con_${'0'.repeat(24)}${rest}`,
      body,
    }),
  ]
/** Of an endpoint of webhooks. */
const ofWebhook =
  (rest = '', body?: unknown) =>
  ({ webhook }: Loot) => [
    attempt(404, `${webhooks}/${webhook}${rest}`, body, { path: `${webhooks}/whk_${'0'.repeat(24)}${rest}`, body }),
  ]
/** Of a saved view, which everybody of acme sees. */
const ofView =
  (body?: unknown) =>
  ({ view }: Loot) => [attempt(404, `${views}/${view}`, body, { path: `${views}/view_${'0'.repeat(24)}`, body })]
const ofBudget =
  (body?: unknown) =>
  ({ budget }: Loot) => [attempt(404, `${budgets}/${budget}`, body, { path: `${budgets}/bud_${'0'.repeat(24)}`, body })]
const ofDelivery =
  (rest = '') =>
  ({ webhook, delivery }: Loot) => {
    const path = (id: string) => `${webhooks}/${webhook}/deliveries/${id}${rest}`
    return [attempt(404, path(delivery), undefined, { path: path(unknownId) })]
  }
function attempt(
  status: Attempt['status'],
  path: string,
  body?: unknown,
  withUnknown?: Attempt['withUnknown'],
): Attempt {
  return { status, path, ...(body !== undefined && { body }), ...(withUnknown && { withUnknown }) }
}
const byClientId =
  (rest = '', body?: unknown) =>
  ({ clientId }: Loot) => [
    attempt(404, `${accounts}/${clientId}${rest}`, body, { path: `${accounts}/sa${'Z'.repeat(24)}${rest}`, body }),
  ]
const ofHold =
  (rest = '', body?: unknown) =>
  ({ hold }: Loot) => [attempt(404, `${holds}/${hold}${rest}`, body, { path: `${holds}/${unknownId}${rest}`, body })]
const coworks = '/api/v1/skill-entitlement/coworks'
const ofCowork =
  (rest = '', body?: unknown) =>
  () => [attempt(404, `${coworks}/secret-pack${rest}`, body, { path: `${coworks}/no-such-pack${rest}`, body })]
/** Of the grants of an archetype. */
const ofArchetype = (body?: unknown) => (_: Loot) => {
  const path = (id: string) => `/api/v1/skill-entitlement/archetypes/${id}/grants`
  return [attempt(404, path('secret-archetype'), body, { path: path('no-such-archetype'), body })]
}
const ofSync =
  (rest = '') =>
  ({ sync }: Loot) => [
    attempt(404, `${syncs}/${sync}${rest}`, undefined, { path: `${syncs}/sync_${'0'.repeat(24)}${rest}` }),
  ]
const artifact = (related: string) => ({ record_type: 'artifact', title: 'x', related_records: [related] })
const summaries = (path: string) =>
  ['skill', 'archetype', 'user', 'platform', 'model']
    .map((grouping) => attempt(200, `${path}?from=2020-01-01T00:00:00Z&group_by=${grouping}`))
    .concat(attempt(200, `${path}?from=2026-01-01T00:00:00Z&interval=hour&skill_id=secret-skill`))
const stolenEvent = event({ skill_id: 'secret-skill' })
const archetypeEvent = event({ archetype_id: 'secret-archetype' })

/** For every operation that takes a token. The test fails for one without a case. */
export const isolationCases: Partial<Record<OperationId, (loot: Loot) => Attempt[]>> = {
  listServiceAccounts: () => [attempt(200, `${accounts}?limit=1000`)],
  createServiceAccount: () => [attempt(201, accounts, { name: 'own', scopes: ['hub:read'] })],
  getServiceAccount: byClientId(),
  updateServiceAccount: byClientId('', { name: 'taken', scopes: ['hub:read'] }),
  disableServiceAccount: byClientId(),
  rotateServiceAccountSecret: byClientId(':rotate-secret'),
  queryRecords: (loot) => [
    ...['', '?include_purged=true&verify=true', `?record_id=${loot.record}`, `?created_by=${loot.clientId}`].map(
      (query) => attempt(200, `${records}${query}`),
    ),
    attempt(200, `${records}?skill_id=secret-skill`),
    attempt(200, `${records}?sort=-cost_usd_estimate&archetype_id=secret-archetype`),
    attempt(200, `${records}?session_id=secret-session`),
    attempt(200, `${records}?success=true&latency_ms__gte=0`),
  ],
  searchRecords: (loot) => [
    ...['secret', 'secret-skill', loot.record, 'contract or secret', 'what is the secret of acme'].map((q) =>
      attempt(200, `/api/v1/hub/search?include_purged=true&q=${encodeURIComponent(q)}`),
    ),
    attempt(200, '/api/v1/hub/search?q=secret&skill_id=secret-skill'),
  ],
  listTelemetrySessions: () => [
    attempt(200, '/api/v1/hub/sessions?limit=50'),
    attempt(200, '/api/v1/hub/sessions?skill_id=secret-skill'),
  ],
  getTelemetrySession: () => {
    const path = (id: string) => `/api/v1/hub/sessions/${id}`
    return [attempt(404, path('secret-session'), undefined, { path: path('no-such-session') })]
  },
  getTrace: () => {
    const path = (digit: string) => `/api/v1/hub/traces/${digit.repeat(32)}`
    return [attempt(404, path('a'), undefined, { path: path('b') })]
  },
  suggest: (loot) =>
    ['secret', 'a', loot.userId, loot.record].map((q) => attempt(200, `/api/v1/suggest?q=${encodeURIComponent(q)}`)),
  writeRecord: (loot) => [
    attempt(400, records, artifact(loot.record), { path: records, body: artifact(unknownId) }),
    attempt(422, records, { record_type: 'output', skill_id: 'secret-skill' }),
    attempt(400, records, { record_type: 'artifact', title: 'x', tenant_id: 'acme' }),
  ],
  getRecord: (loot) => [...byId()(loot), ...byId('?verify=true')(loot)],
  getRecordState: byId('/state'),
  purgeRecord: byId('?reason=gone'),
  restoreRecord: byId(':restore'),
  getRelatedRecords: byId('/related?depth=5'),
  verifyRecord: byId('/verify'),
  releaseRecord: (loot) => {
    const body = { reason: 'free' }
    const withUnknown = { path: `${records}/${unknownId}/legal-hold-releases`, body }
    return [attempt(404, `${records}/${loot.governance}/legal-hold-releases`, body, withUnknown)]
  },
  listReleases: (loot) => [
    attempt(404, `${records}/${loot.governance}/legal-hold-releases`, undefined, {
      path: `${records}/${unknownId}/legal-hold-releases`,
    }),
  ],
  placeHold: (loot) => {
    const body = (id: string) => ({ name: 'own', reason: 'own', record_ids: [id] })
    return [
      attempt(400, holds, body(loot.record), { path: holds, body: body(unknownId) }),
      attempt(201, holds, { name: 'own', reason: 'own', filter: { skill_id: 'secret-skill' } }),
    ]
  },
  listHolds: () => [attempt(200, `${holds}?limit=1000`), attempt(200, `${holds}?active=true`)],
  getHold: ofHold(),
  releaseHold: ofHold(':release', { reason: 'free' }),
  getRetentionRules: () => [attempt(200, retention)],
  replaceRetentionRules: () => [attempt(200, retention, { rules: [{ record_type: 'output', min_days: 1 }] })],
  getLogCheckpoint: () => [attempt(200, `${log}/checkpoint`)],
  getLogConsistency: () => [attempt(200, `${log}/consistency?from=1`)],
  listLogEntries: () => [attempt(200, `${log}/entries?limit=1000`)],
  getDeletionCertificate: byId('/deletion-certificate'),
  getRecordProof: byId('/proof'),
  getProofBundle: byId('/proof-bundle'),
  createExport: () => [
    attempt(202, `${records}:export`, { filter: { user_id: 'user:kim@example.com' } }),
    attempt(202, `${records}:export`, { filter: { tenant_id: 'globex', skill_id: 'secret-skill' }, verify: true }),
    attempt(400, `${records}:export`, { filter: { tenant: 'acme' } }),
  ],
  createEvidencePack: () => [
    attempt(202, '/api/v1/hub/evidence-packs', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
    attempt(400, '/api/v1/hub/evidence-packs', {
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00Z',
      tenant_id: 'globex',
    }),
  ],
  listExports: () => ['', '?limit=1000'].map((query) => attempt(200, `${exports}${query}`)),
  getExport: ofExport(),
  cancelExport: ofExport(':cancel'),
  callMcp: () => {
    const headers = { accept: 'application/json, text/event-stream' }
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/list' }
    return [{ ...attempt(200, '/mcp', message), headers }]
  },
  getTenant: () => [attempt(200, '/api/v1/tenant')],
  replaceTenant: () => [attempt(200, '/api/v1/tenant', { display_name: 'Globex' })],
  getTenantHealth: () => [attempt(200, '/api/v1/observability/tenant-health')],
  provisionHub: () => [attempt(200, '/api/v1/hub/provision', { retention_days: 30 })],
  rotateContentKey: () => [attempt(422, '/api/v1/hub/cmek:rotate')],
  destroyContentKeys: () => [
    attempt(400, '/api/v1/hub/cmek:destroy', { confirm: 'acme', reason: 'x' }),
    attempt(422, '/api/v1/hub/cmek:destroy', { confirm: 'globex', reason: 'x' }),
  ],
  getProvision: () => [attempt(200, '/api/v1/hub/provision')],
  ingestEvent: () => [
    attempt(422, '/api/v1/telemetry/events', stolenEvent),
    attempt(400, '/api/v1/telemetry/events', archetypeEvent),
  ],
  ingestBatch: () => [attempt(201, '/api/v1/telemetry/events:batch', { events: [stolenEvent, archetypeEvent] })],
  summarizeTelemetry: () => summaries('/api/v1/telemetry/summary'),
  reconcileTelemetry: () => summaries('/api/v1/telemetry/reconciliation'),
  listCostExceptions: () =>
    ['', '?kind=unpriced', '?skill_id=secret-skill', '?archetype_id=secret-archetype', '?tolerance=0'].map((query) =>
      attempt(200, `/api/v1/telemetry/reconciliation/exceptions${query}`),
    ),
  getPrices: () => [attempt(200, '/api/v1/telemetry/prices')],
  getOtlpMapping: () => [attempt(200, '/api/v1/telemetry/otlp-mapping')],
  replaceOtlpMapping: () => [attempt(200, '/api/v1/telemetry/otlp-mapping', { default_skill_id: 'secret-skill' })],
  replacePrices: () => [attempt(200, '/api/v1/telemetry/prices', { prices: [] })],
  rateTelemetryAgain: () => [attempt(202, '/api/v1/telemetry/prices:rerate', { from: '2020-01-01T00:00:00Z' })],
  listUsers: () =>
    ['', '?limit=1000', '?role=auditor', '?active=true', '?matched=false', '?archetype_id=secret-archetype'].map(
      (query) => attempt(200, `${users}${query}`),
    ),
  // What is one person's address in acme is free in globex.
  createUser: () => [attempt(201, users, { email: 'taken@acme.example' })],
  getUser: ofUser(),
  getUserRole: ofUser('/role'),
  replaceUserRole: ofUser('/role', { role: 'analyst' }),
  deactivateUser: ofUser(':deactivate'),
  reactivateUser: ofUser(':reactivate'),
  inviteUser: ofUser(':invite'),
  listUserSessions: ofUser('/sessions'),
  endUserSession: ofUser(`/sessions/ses_${'0'.repeat(24)}`),
  getUserArchetypes: ofUser('/archetypes'),
  replaceUserArchetypes: ofUser('/archetypes', { archetype_ids: [] }),
  resetUserArchetypes: ofUser('/archetypes'),
  listGroups: () => [attempt(200, `${groups}?limit=1000`)],
  listGroupMembers: ({ groupId }) => {
    const withUnknown = { path: `${groups}/grp_${'0'.repeat(24)}/members` }
    return [attempt(404, `${groups}/${groupId}/members`, undefined, withUnknown)]
  },
  listArchetypes: () => [attempt(200, '/api/v1/roster/archetypes?limit=1000')],
  replaceArchetypes: () => [
    attempt(200, '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }, { archetype_id: 'other' }] }),
  ],
  configureSso: () => [
    attempt(400, '/api/v1/identity/sso/configure', {
      issuer: 'https://169.254.169.254',
      client_id: 'stolen',
      client_secret: 'stolen',
      allowed_email_domains: ['acme.example'],
    }),
  ],
  getSso: () => [attempt(404, '/api/v1/identity/sso/configure')],
  removeSso: () => [attempt(204, '/api/v1/identity/sso/configure')],
  testSso: () => [attempt(404, '/api/v1/identity/sso:test')],
  configureScim: () => [
    attempt(400, '/api/v1/identity/scim/configure', {
      ...{ mode: 'pull', base_url: 'https://169.254.169.254', bearer_token: 'stolen' },
      group_archetype_map: [{ group: 'stolen', archetype_id: 'secret-archetype' }],
    }),
  ],
  getScim: () => [attempt(404, '/api/v1/identity/scim/configure')],
  removeScim: () => [attempt(204, '/api/v1/identity/scim/configure')],
  rotateScimToken: () => [attempt(404, '/api/v1/identity/scim:rotate-token')],
  rotateScimInboundSecret: () => [attempt(404, '/api/v1/identity/scim:rotate-inbound-secret')],
  testScim: () => [attempt(404, '/api/v1/identity/scim:test')],
  syncRoster: () => [attempt(409, '/api/v1/roster/scim:sync')],
  getLatestRosterSync: () => [attempt(404, '/api/v1/roster/scim:sync')],
  listRosterSyncs: () => [attempt(200, `${syncs}?limit=1000`)],
  getRosterSync: ofSync(),
  confirmRosterSync: ofSync(':confirm'),
  cancelRosterSync: ofSync(':cancel'),
  getSkill: () => {
    const withUnknown = { path: '/api/v1/skill-entitlement/skills/no-such-skill' }
    return [attempt(404, '/api/v1/skill-entitlement/skills/secret-skill', undefined, withUnknown)]
  },
  listCoworks: () => [attempt(200, `${coworks}?limit=1000`)],
  getCowork: ofCowork(),
  replaceCowork: () => [
    attempt(200, `${coworks}/own`, { name: 'own', skills: [], archetype_ids: [] }),
    attempt(400, `${coworks}/own`, { name: 'own', skills: [], archetype_ids: ['secret-archetype'] }),
  ],
  applyCowork: ofCowork('/apply', {}),
  getCoworkApplication: ofCowork('/apply'),
  listGrants: () =>
    ['', '?archetype_id=secret-archetype', '?skill_id=secret-skill'].map((query) =>
      attempt(200, `/api/v1/skill-entitlement/grants${query}`),
    ),
  getArchetypeGrants: ofArchetype(),
  replaceArchetypeGrants: (loot) => [
    ...ofArchetype({ skill_ids: [] })(loot),
    attempt(422, '/api/v1/skill-entitlement/archetypes/analyst/grants', { skill_ids: ['secret-skill'] }),
  ],
  checkEntitlement: (loot) => [
    attempt(200, `/api/v1/skill-entitlement/check?user_id=${loot.userId}&skill_id=secret-skill`),
  ],
  checkEntitlements: (loot) => [
    attempt(200, '/api/v1/skill-entitlement/check:batch', {
      checks: [{ user_id: loot.userId, skill_id: 'secret-skill' }],
    }),
  ],
  createWebhook: () => [attempt(201, webhooks, { url: 'https://hooks.globex.example/', events: ['user.*'] })],
  listWebhooks: () => [attempt(200, `${webhooks}?limit=1000`)],
  getWebhook: ofWebhook(),
  updateWebhook: ofWebhook('', { enabled: false }),
  removeWebhook: ofWebhook(),
  rotateWebhookSecret: ofWebhook(':rotate-secret'),
  testWebhook: ofWebhook(':test'),
  testWebhookAddress: () => [attempt(400, `${webhooks}:test`, { url: 'https://169.254.169.254/' })],
  redeliverSince: ofWebhook(':redeliver', { since: '2020-01-01T00:00:00Z' }),
  listWebhookAlerts: ofWebhook('/alerts'),
  listDeliveries: ofWebhook('/deliveries'),
  getDelivery: ofDelivery(),
  redeliver: ofDelivery(':redeliver'),
  redeliverDelivery: ({ delivery }) => {
    const path = (id: string) => `${webhooks}/deliveries/${id}:redeliver`
    return [attempt(404, path(delivery), undefined, { path: path(unknownId) })]
  },
  listBudgets: () => [attempt(200, `${budgets}?limit=1000`)],
  createBudget: ({ webhook }) => [
    attempt(201, budgets, { name: 'own', period: 'day', amount_usd: 1 }),
    attempt(
      400,
      budgets,
      { name: 'own', period: 'day', amount_usd: 1, notify: { webhook_ids: [webhook] } },
      { path: budgets, body: { name: 'own', period: 'day', amount_usd: 1, notify: { webhook_ids: ['whk_1'] } } },
    ),
  ],
  getBudget: ofBudget(),
  updateBudget: ofBudget({ name: 'taken' }),
  removeBudget: ofBudget(),
  listViews: () => ['', '&page=records'].map((page) => attempt(200, `${views}?limit=1000${page}`)),
  createView: () => [attempt(201, views, { page: 'records', name: 'own', query: '' })],
  updateView: ofView({ name: 'taken', shared: false }),
  removeView: ofView(),
  listNotifications: () => [attempt(200, notifications)],
  markNotificationsRead: ({ governance }) => [
    attempt(
      400,
      `${notifications}:read`,
      { record_id: governance },
      { path: `${notifications}:read`, body: { record_id: unknownId } },
    ),
  ],
  createConnector: () => [attempt(201, connectors, { platform: 'custom:own', display_name: 'own', delivery: 'pull' })],
  listConnectors: () => [attempt(200, `${connectors}?limit=1000`)],
  getConnector: ofConnector(),
  updateConnector: ofConnector('', { display_name: 'taken' }),
  removeConnector: ofConnector(),
  rotateConnectorCredentials: ofConnector(':rotate-credentials', { credentials: { api_key: 'taken' } }),
  rotateConnectorInboundSecret: ofConnector(':rotate-inbound-secret'),
  testConnector: ofConnector(':test'),
  getManifest: ({ connector }) => {
    const withUnknown = { path: `${distribution}/manifest?connector_id=con_${'0'.repeat(24)}` }
    return [attempt(404, `${distribution}/manifest?connector_id=${connector}`, undefined, withUnknown)]
  },
  // Its own: it has ordered one by then.
  getLatestRepublish: () => [attempt(200, `${distribution}:republish`)],
  republishSkills: () => [attempt(202, `${distribution}:republish`)],
  getRepublish: ({ republish }) => {
    const withUnknown = { path: `${distribution}/republishes/rep_${'0'.repeat(24)}` }
    return [attempt(404, `${distribution}/republishes/${republish}`, undefined, withUnknown)]
  },
  listSkills: () => [attempt(200, '/api/v1/skill-entitlement/skills?limit=1000')],
  transitionSkill: () => {
    const body = { state: 'published' }
    const withUnknown = { path: '/api/v1/skill-entitlement/skills/no-such-skill:transition', body }
    return [attempt(404, '/api/v1/skill-entitlement/skills/secret-skill:transition', body, withUnknown)]
  },
}
