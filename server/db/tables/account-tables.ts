import type { Generated } from 'kysely'
import type { SearchLanguage } from '../../../contract/literals.ts'
import type { Role } from '../../../contract/roles.ts'
import type { Timestamp } from './timestamp.ts'

/** Tables of the tenant, its service accounts, and the people who sign in. */
export interface AccountTables {
  'hub.tenant_settings': {
    tenant_id: string
    display_name: string
    admin_email: string
    retention_days: number | null
    provisioned_at: Timestamp | null
    live_since: Timestamp | null
    updated_at: Timestamp
    confirmed_at: Timestamp | null
    contact_email: string | null
    proof: Buffer | null
    exports_per_day: number | null
    export_mb_kept: number | null
    search_language: SearchLanguage
  }
  'hub.tenant_limits': { tenant_id: string; class: string; per_token: number; per_tenant: number }
  'hub.service_accounts': {
    tenant_id: string
    client_id: string
    name: string
    scopes: string[]
    created_at: Timestamp
    disabled_at: Timestamp | null
    last_used_at: Timestamp | null
    epoch: Generated<number>
    expires_at: Timestamp | null
    /** Networks in CIDR notation; null allows any. */
    allowed_addresses: string[] | null
    updated_at: Timestamp | null
    proof: Buffer | null
  }
  'hub.service_account_secrets': {
    tenant_id: string
    client_id: string
    secret_hash: Buffer
    created_at: Timestamp
    expires_at: Timestamp | null
  }
  'hub.magic_links': {
    tenant_id: string
    token_hash: Buffer
    email: string
    purpose: string
    created_at: Timestamp
    expires_at: Timestamp
    consumed_at: Timestamp | null
    proof: Buffer | null
  }
  'hub.users': {
    tenant_id: string
    user_id: string
    /** Empty if the directory has no address. */
    email: string
    email_key: string
    display_name: string | null
    role: Role
    epoch: number
    created_at: Timestamp
    updated_at: Timestamp
    deactivated_at: Timestamp | null
    last_sign_in_at: Timestamp | null
    /** If true, groups do not decide. */
    archetypes_by_hand: Generated<boolean>
    /** If true, a person deactivated them, and the directory does not reactivate them. */
    deactivated_by_hand: Generated<boolean>
    proof: Buffer | null
  }
  'hub.sso_connections': {
    tenant_id: string
    connection_id: string
    issuer: string
    client_id: string
    client_secret_sealed: Buffer
    allowed_email_domains: string[]
    created_at: Timestamp
    updated_at: Timestamp
    replaced_at: Timestamp | null
    proof: Buffer | null
  }
  'hub.user_identities': {
    tenant_id: string
    connection_id: string
    subject: string
    user_id: string
    created_at: Timestamp
    proof: Buffer | null
  }
  'hub.spent_logins': { tenant_id: string; state_hash: Buffer; spent_at: Timestamp }
  'hub.sessions': {
    tenant_id: string
    session_id: string
    user_id: string
    method: string
    connection_id: string | null
    address: string
    user_agent: string | null
    created_at: Timestamp
    expires_at: Timestamp
    ended_at: Timestamp | null
    /** The name of the authorized client; null for the session of a browser. */
    client_name: string | null
    /** SHA-256 of the authorization code until it is redeemed. The session is not live before. */
    code_hash: Buffer | null
  }
  'hub.refresh_families': {
    tenant_id: string
    family_id: string
    session_id: string
    generation: number
    rotated_at: Timestamp
    /** `[generation, milliseconds since 1970][]` */
    rotations: unknown
    created_at: Timestamp
  }
}
