import type { Generated } from 'kysely'
import type { Timestamp } from './timestamp.ts'

/** Tables of the company's directory, and the archetypes of its people. */
export interface RosterTables {
  'hub.archetypes': { tenant_id: string; archetype_id: string; name: string | null }
  'hub.scim_configurations': {
    tenant_id: string
    connection_id: string
    mode: 'push' | 'pull'
    base_url: string | null
    bearer_token_sealed: Buffer | null
    token_hash: Buffer | null
    former_token_hash: Buffer | null
    former_token_until: Timestamp | null
    /** `{group, archetype_id}[]` */
    group_archetype_map: unknown
    created_at: Timestamp
    updated_at: Timestamp
    last_request_at: Timestamp | null
    proof: Buffer | null
  }
  'hub.directory_users': {
    tenant_id: string
    user_id: string
    user_name: string
    user_name_key: string
    external_id: string | null
    active: boolean
    /** The rest of the SCIM resource. */
    attributes: unknown
    revision: number
    created_at: Timestamp
    updated_at: Timestamp
    seen_by: string | null
  }
  'hub.directory_groups': {
    tenant_id: string
    group_id: string
    display_name: string
    display_name_key: string
    external_id: string | null
    attributes: unknown
    revision: number
    created_at: Timestamp
    updated_at: Timestamp
    seen_by: string | null
  }
  'hub.directory_members': { tenant_id: string; group_id: string; user_id: string }
  'hub.user_archetypes': { tenant_id: string; user_id: string; archetype_id: string; assigned_at: Timestamp }
  'hub.roster_syncs': {
    tenant_id: string
    sync_id: string
    mode: 'push' | 'pull'
    status: string
    created_at: Timestamp
    created_by: string
    started_at: Timestamp | null
    finished_at: Timestamp | null
    /** The position at which an interrupted sync continues. */
    position: unknown
    done: Generated<number>
    total: number | null
    added: Generated<number>
    updated: Generated<number>
    deactivated: Generated<number>
    unmatched: Generated<number>
    skipped: Generated<number>
    /** The number of the attempt. Only the latest attempt changes the row. */
    attempt: Generated<number>
    to_deactivate: number | null
    confirmation_reason: string | null
    confirmed_at: Timestamp | null
    confirmed_by: string | null
    error: unknown
  }
  'hub.roster_sync_entries': {
    tenant_id: string
    sync_id: string
    kind: 'user' | 'group'
    /** The id in the company's directory. */
    source_id: string
    external_id: string
  }
}
