import type pg from 'pg'
import type { TenantChanges } from '../../server/modules/tenants/tenants-types.ts'
import { type OidcLab, ssoPath } from './oidc-lab.ts'

const scimPath = '/api/v1/identity/scim/configure'
const operator = { operator: 'test' }

/** A row that the API replaces or removes, and that somebody with the database sets back with its former proof. */
export interface SetBackCase {
  table: string
  /** Holds the rest of what the proof binds. */
  secrets?: string
  /** Makes the row that is copied, and returns its subject. */
  prepare(lab: OidcLab): Promise<string>
  change(lab: OidcLab): Promise<unknown>
  /** Changes, by API, the row that was set back. */
  confirm?(lab: OidcLab): Promise<unknown>
  /** Leaves the tenant reachable for other tests. */
  undo?(lab: OidcLab): Promise<unknown>
}

const ssoConnections = { table: 'hub.sso_connections', prepare: freshSso }
const scimConfigurations = { table: 'hub.scim_configurations', prepare: freshScim }

/** All in the tenant `cmode`. */
export const setBackCases: Record<string, SetBackCase> = {
  'a provider that another one replaced': {
    ...ssoConnections,
    change: (lab) => lab.connect('cmode', { client_id: 'another' }),
  },
  'a provider with its former domains': {
    ...ssoConnections,
    change: (lab) => lab.connect('cmode', { allowed_email_domains: ['other.example'] }),
    confirm: (lab) => lab.connect('cmode', { allowed_email_domains: ['acme.example', 'third.example'] }),
  },
  'a provider with its former secret': {
    ...ssoConnections,
    change: (lab) => lab.connect('cmode', { client_secret: 'another secret' }),
  },
  'a provider that was removed': {
    ...ssoConnections,
    change: (lab) => call(lab, 'DELETE', ssoPath),
  },
  'a directory with its former token': {
    ...scimConfigurations,
    change: rotateScimToken,
    confirm: rotateScimToken,
  },
  'a directory that was removed': {
    ...scimConfigurations,
    change: (lab) => call(lab, 'DELETE', scimPath),
    confirm: (lab) =>
      call(lab, 'POST', scimPath, { mode: 'push', group_archetype_map: [{ group: 'g', archetype_id: 'a' }] }),
  },
  'a directory that another one replaced': {
    ...scimConfigurations,
    change: freshScim,
  },
  'the former address of the first administrator': {
    table: 'hub.tenant_settings',
    prepare: async () => 'tenant:cmode',
    change: (lab) => operate(lab, { admin_email: 'second@cmode.example' }),
  },
  'the former address of a tenant': {
    table: 'hub.tenants',
    prepare: async () => 'tenant:cmode',
    change: (lab) => operate(lab, { base_url: 'https://hub.cmode.example' }),
    undo: (lab) => operate(lab, { base_url: null }),
  },
  'a tenant that was suspended': {
    table: 'hub.tenants',
    prepare: async () => 'tenant:cmode',
    change: (lab) => operate(lab, { suspended: true }),
    confirm: (lab) => operate(lab, { base_url: 'https://hub.cmode.example' }),
    undo: (lab) => operate(lab, { suspended: false }),
  },
  'an account with its former secrets': {
    table: 'hub.service_accounts',
    secrets: 'hub.service_account_secrets',
    prepare: async (lab) => `service_account:${await lab.hub.clientId('cmode')}`,
    async change(lab) {
      const [cmode, clientId] = [await lab.hub.tenant('cmode'), await lab.hub.clientId('cmode')]
      await lab.hub.modules.auth.serviceAccounts.rotate(cmode, clientId, operator)
    },
    confirm: async (lab) =>
      call(lab, 'PATCH', `/api/v1/service-accounts/${await lab.hub.clientId('cmode')}`, { name: 'another' }),
  },
}

async function call(lab: OidcLab, method: string, path: string, body?: unknown): Promise<string> {
  const answer = await lab.hub.call('cmode', method, path, { body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return `connection:${answer.body?.connection_id}`
}

function rotateScimToken(lab: OidcLab): Promise<string> {
  return call(lab, 'POST', '/api/v1/identity/scim:rotate-token')
}

export async function freshSso(lab: OidcLab): Promise<string> {
  await call(lab, 'DELETE', ssoPath)
  return `connection:${(await lab.connect('cmode')).body.connection_id}`
}

async function freshScim(lab: OidcLab): Promise<string> {
  await call(lab, 'DELETE', scimPath)
  return call(lab, 'POST', scimPath, { mode: 'push' })
}

function operate(lab: OidcLab, changes: TenantChanges) {
  return lab.hub.modules.tenants.operated.update('cmode', changes, operator)
}

const tenantColumn = (table: string) => (table === 'hub.tenants' ? 'slug' : 'tenant_id')

/** Copies the rows of the tenant, and returns a function that sets them back. */
export async function copyRows(db: pg.Client, tables: readonly string[], tenant: string): Promise<() => Promise<void>> {
  const copies: [string, string][] = []
  for (const table of tables) {
    const query = `select coalesce(json_agg(t), '[]')::text as rows from ${table} t where ${tenantColumn(table)} = $1`
    copies.push([table, (await db.query(query, [tenant])).rows[0].rows])
  }
  return async () => {
    await db.query('begin')
    for (const [table, rows] of copies) {
      await db.query(`delete from ${table} where ${tenantColumn(table)} = $1`, [tenant])
      await db.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [rows])
    }
    await db.query('commit')
  }
}
