import { hash } from 'node:crypto'

/** Describes a table whose rows carry a proof, with the fields that grant access. */
export interface ProvenRows<Row> {
  table: string
  /**
   * Returns the SQL of the fields and of the row's name, for a `select` from the table as `t`.
   *
   * @param tenant SQL of the tenant, for other tables in it; default: the first parameter of the statement
   */
  columns(tenant?: string): string
  /** The column of the tenant's slug. Default: `tenant_id`. */
  tenantColumn?: string
  /** SQL of the text that identifies a row within its tenant, and orders rows. */
  key: string
  /** SQL that excludes rows that grant nothing. */
  where?: string
  fields(row: Row): (string | number | boolean | null | readonly string[])[]
  /** Names the row in reports, without a secret or an address. */
  subject(row: Row, tenantId: string): string
}

export interface UserFields {
  user_id: string
  email: string
  email_key: string
  role: string
  epoch: number
  deactivated_at: string | null
  deactivated_by_hand: boolean
}

export const userRows: ProvenRows<UserFields> = {
  table: 'hub.users',
  columns: () => 't.user_id, t.email, t.email_key, t.role, t.epoch, t.deactivated_at, t.deactivated_by_hand',
  key: 't.user_id',
  fields: (row) => [
    row.user_id,
    row.email,
    row.email_key,
    row.role,
    row.epoch,
    row.deactivated_at === null,
    row.deactivated_by_hand,
  ],
  subject: (row) => `user:${row.user_id}`,
}

/** A secret of a service account: its keyed hash in hexadecimal, and its end in milliseconds since 1970. */
export interface SecretFields {
  hash: string
  until: number | null
}

export interface AccountFields {
  client_id: string
  scopes: string[]
  disabled: boolean
  expires_at: string | null
  allowed_addresses: string[] | null
  epoch: number
  secrets: SecretFields[]
}

/** Binds the secrets to the account, so that restoring the row of a revoked secret does not restore the secret. */
export const secretsOfAccount = (tenant = '$1') => `coalesce((
  select json_agg(json_build_object('hash', encode(s.secret_hash, 'hex'),
    'until', floor(extract(epoch from s.expires_at) * 1000)::bigint))
  from hub.service_account_secrets s where s.tenant_id = ${tenant} and s.client_id = t.client_id), '[]')`

export const accountRows: ProvenRows<AccountFields> = {
  table: 'hub.service_accounts',
  columns: (
    tenant,
  ) => `t.client_id, t.scopes, t.disabled_at is not null as disabled, t.expires_at, t.allowed_addresses, t.epoch,
    ${secretsOfAccount(tenant)} as secrets`,
  key: 't.client_id',
  fields: (row) => [
    row.client_id,
    row.scopes,
    row.disabled,
    row.expires_at,
    row.allowed_addresses,
    row.epoch,
    row.secrets.map(({ hash: hex, until }) => `${hex} ${until}`).sort(),
  ],
  subject: (row) => `service_account:${row.client_id}`,
}

export interface LinkFields {
  token_hash: Buffer
  email: string
  purpose: string
  expires_at: string
  consumed_at: string | null
}

/** A used link has no proof any more. */
export const linkRows: ProvenRows<LinkFields> = {
  table: 'hub.magic_links',
  columns: () => 't.token_hash, t.email, t.purpose, t.expires_at, t.consumed_at',
  key: "encode(t.token_hash, 'hex')",
  where: 't.consumed_at is null',
  fields: (row) => [row.token_hash.toString('hex'), row.email, row.purpose, row.expires_at],
  subject: (_row, tenantId) => `tenant:${tenantId}`,
}

export interface IdentityFields {
  connection_id: string
  subject: string
  user_id: string
}

export const identityRows: ProvenRows<IdentityFields> = {
  table: 'hub.user_identities',
  columns: () => 't.connection_id, t.subject, t.user_id',
  key: "t.user_id || ' ' || t.connection_id",
  fields: (row) => [row.connection_id, row.subject, row.user_id],
  subject: (row) => `user:${row.user_id}`,
}

export interface SsoFields {
  connection_id: string
  issuer: string
  client_id: string
  client_secret_sealed: Buffer
  allowed_email_domains: string[]
}

/** A replaced connection grants nothing and has no proof any more. */
export const ssoRows: ProvenRows<SsoFields> = {
  table: 'hub.sso_connections',
  columns: () => 't.connection_id, t.issuer, t.client_id, t.client_secret_sealed, t.allowed_email_domains',
  key: 't.connection_id',
  where: 't.replaced_at is null',
  fields: (row) => [
    row.connection_id,
    row.issuer,
    row.client_id,
    hash('sha256', row.client_secret_sealed, 'hex'),
    row.allowed_email_domains,
  ],
  subject: (row) => `connection:${row.connection_id}`,
}

export interface ScimFields {
  connection_id: string
  mode: string
  base_url: string | null
  bearer_token_sealed: Buffer | null
  token_hash: Buffer | null
  former_token_hash: Buffer | null
  former_token_until: string | null
}

export const scimRows: ProvenRows<ScimFields> = {
  table: 'hub.scim_configurations',
  columns: () => `t.connection_id, t.mode, t.base_url, t.bearer_token_sealed, t.token_hash, t.former_token_hash,
    t.former_token_until`,
  key: 't.connection_id',
  fields: (row) => [
    row.connection_id,
    row.mode,
    row.base_url,
    row.bearer_token_sealed && hash('sha256', row.bearer_token_sealed, 'hex'),
    row.token_hash?.toString('hex') ?? null,
    row.former_token_hash?.toString('hex') ?? null,
    row.former_token_until,
  ],
  subject: (row) => `connection:${row.connection_id}`,
}

export interface SettingsFields {
  admin_email: string
}

/** The settings with the address that becomes the first administrator. */
export const settingsRows: ProvenRows<SettingsFields> = {
  table: 'hub.tenant_settings',
  columns: () => 't.admin_email',
  key: 't.tenant_id',
  fields: (row) => [row.admin_email],
  subject: (_row, tenantId) => `tenant:${tenantId}`,
}

export interface TenantFields {
  slug: string
  mode: string
  base_url: string | null
  log_name: string
  suspended_at: string | null
}

/**
 * The entry of a tenant: the target of its links, which of its content is stored and under which key, and whether the
 * operator suspended it.
 */
export const tenantRows: ProvenRows<TenantFields> = {
  table: 'hub.tenants',
  columns: () => 't.slug, t.mode, t.base_url, t.log_name, t.suspended_at',
  tenantColumn: 'slug',
  key: 't.slug',
  fields: (row) => [
    row.slug,
    row.mode,
    row.base_url,
    row.log_name,
    ...(row.suspended_at === null ? [] : ['suspended']),
  ],
  subject: (row) => `tenant:${row.slug}`,
}

// Each has another row type, which only its own functions see.
export const allProvenRows = [
  userRows,
  accountRows,
  linkRows,
  identityRows,
  ssoRows,
  scimRows,
  settingsRows,
  tenantRows,
] as unknown as readonly ProvenRows<unknown>[]
