import type { AccountTables } from './tables/account-tables.ts'
import type { BudgetTables } from './tables/budget-tables.ts'
import type { NotificationTables } from './tables/notification-tables.ts'
import type { RecordTables } from './tables/record-tables.ts'
import type { RosterTables } from './tables/roster-tables.ts'
import type { SkillTables } from './tables/skill-tables.ts'
import type { TelemetryTables } from './tables/telemetry-tables.ts'
import type { Timestamp } from './tables/timestamp.ts'
import type { ViewTables } from './tables/view-tables.ts'
import type { WebhookTables } from './tables/webhook-tables.ts'

/** Column types as `pg` returns them: one interface per table of `migrations/`. */

export interface RegistryTables {
  'hub.tenants': {
    slug: string
    mode: 'A' | 'B' | 'C'
    base_url: string | null
    log_name: string
    created_at: Timestamp
    suspended_at: Timestamp | null
    proof: Buffer | null
  }
  'hub.client_directory': { client_id: string; tenant_slug: string }
  'hub.inbound_directory': { connection_id: string; tenant_slug: string }
  'hub.published_keys': {
    key_id: string
    name: string
    public_key: Buffer
    created_at: Timestamp
    retired_at: Timestamp | null
    /** The note by which the preceding key introduces it; null for the first key of a log. */
    succession: string | null
  }
  'hub.token_keys': {
    key_id: string
    algorithm: string
    public_jwk: unknown
    private_key_sealed: Buffer
    created_at: Timestamp
    retired_at: Timestamp | null
  }
  'hub.revocations': { tenant_slug: string; principal: string; min_epoch: number; revoked_at: Timestamp }
}

/** Tables with a tenant, by subject. */
export type TenantTables = AccountTables &
  RecordTables &
  TelemetryTables &
  RosterTables &
  SkillTables &
  NotificationTables &
  WebhookTables &
  ViewTables &
  BudgetTables
