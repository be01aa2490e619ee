import type { Generated } from 'kysely'
import type { Role } from '../../contract/roles.ts'

/** Column types of the database, as `pg` hands them over. One interface per table of `migrations/`. */

/** Timestamps are read and written as RFC 3339 text in UTC with six fractional digits. */
type Timestamp = string

export interface RegistryTables {
  'hub.tenants': {
    slug: string
    mode: 'A' | 'B' | 'C'
    base_url: string | null
    log_name: string
    created_at: Timestamp
    suspended_at: Timestamp | null
  }
  'hub.client_directory': { client_id: string; tenant_slug: string }
  'hub.published_keys': {
    key_id: string
    name: string
    public_key: Buffer
    created_at: Timestamp
    retired_at: Timestamp | null
    /** A note by which the key before introduces it; null for the first of a log. */
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

export interface TenantTables {
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
  }
  'hub.tenant_limits': { tenant_id: string; class: string; per_token: number; per_tenant: number }
  'hub.provenance_keys': {
    tenant_id: string
    key_id: string
    name: string
    public_key: Buffer
    private_key_sealed: Buffer
    created_at: Timestamp
    retired_at: Timestamp | null
    succession: string | null
  }
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
    /** Networks in CIDR notation; null is anywhere. */
    allowed_addresses: string[] | null
    updated_at: Timestamp | null
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
  }
  'hub.archetypes': { tenant_id: string; archetype_id: string; name: string | null }
  'hub.skills': {
    tenant_id: string
    skill_id: string
    state: string
    created_at: Timestamp
    updated_at: Timestamp
  }
  'hub.skill_versions': {
    tenant_id: string
    skill_id: string
    skill_version: string
    state: string
    /** Null once its record was erased. */
    name: string | null
    record_id: string
    created_at: Timestamp
  }
  'hub.records': {
    tenant_id: string
    record_id: string
    record_type: string
    created_by: string
    skill_id: string | null
    archetype_id: string | null
    user_id: string | null
    event_kind: string | null
    /** Micro-dollars. */
    cost_micros: number | null
    seal_id: string
    leaf_index: number
    salt: Buffer
    provenance_hash: Buffer
    canonical: string
  }
  'hub.seals': {
    tenant_id: string
    seal_id: string
    key_id: string
    sealed_at: Timestamp
    leaves: Buffer
    /** Null in seals older than the column. */
    upper_nodes: Buffer | null
    signature: Buffer
  }
  'hub.record_links': { tenant_id: string; from_id: string; to_id: string }
  'hub.record_states': {
    tenant_id: string
    record_id: string
    revision: number
    purged_at: Timestamp | null
    purged_by: string | null
    purge_reason: string | null
    /** The end of the year 9999 while a hold freezes the buffer. */
    hard_delete_after: Timestamp | null
    event_id: string | null
    buffer_left_micros: number | null
  }
  'hub.legal_hold_releases': {
    tenant_id: string
    release_id: string
    record_id: string
    reason: string
    created_at: Timestamp
    created_by: string
    expires_at: Timestamp | null
    event_id: string | null
  }
  'hub.tamper_reports': {
    tenant_id: string
    record_id: string
    reported_on: string
    /** The report; there is none that has none. */
    event_id: string | null
  }
  'hub.idempotency_keys': {
    tenant_id: string
    key_digest: Buffer
    request_digest: Buffer
    answer: unknown
    created_at: Timestamp
  }
  'hub.telemetry_deltas': { tenant_id: string; delta_id: string; entries: string }
  'hub.telemetry_rollups': {
    tenant_id: string
    grain: string
    view: string
    /** Quarters of an hour since 1970. */
    first_quarter: number
    cell: Buffer
    skill_id: string | null
    archetype_id: string | null
    user_id: string | null
    llm_platform: string | null
    llm_model: string | null
    invocations: number
    failures: number
    /** A numeric, so text. */
    tokens_in: string
    tokens_out: string
    cost_estimate_micros: string
    cost_computed_micros: string
    unpriced: number
    latency: Buffer
  }
  'hub.rollup_open_days': { tenant_id: string; day: number; touched_at: Timestamp }
  'hub.price_overrides': {
    tenant_id: string
    override_id: string
    llm_platform: string | null
    llm_model: string
    effective_from: Timestamp
    effective_until: Timestamp | null
    input_usd_per_mtok: string
    output_usd_per_mtok: string
  }
  'hub.telemetry_ratings': {
    tenant_id: string
    record_id: string
    cost_computed_micros: number | null
    price_source: string | null
    rated_at: Timestamp
  }
  'hub.rating_runs': {
    tenant_id: string
    run_id: string
    position: string
    until_id: string
    checked: number
    changed: number
    unreadable: number
    /** A numeric, so text. */
    cost_before_micros: string
    cost_after_micros: string
    finished_at: Timestamp | null
  }
  'hub.users': {
    tenant_id: string
    user_id: string
    /** Empty where the directory gives none. */
    email: string
    email_key: string
    display_name: string | null
    role: Role
    epoch: number
    created_at: Timestamp
    updated_at: Timestamp
    deactivated_at: Timestamp | null
    last_sign_in_at: Timestamp | null
    /** Then groups do not decide. */
    archetypes_by_hand: Generated<boolean>
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
  }
  'hub.user_identities': {
    tenant_id: string
    connection_id: string
    subject: string
    user_id: string
    created_at: Timestamp
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
  'hub.seal_arrivals': {
    tenant_id: string
    arrival_id: string
    seal_ids: string[]
    first_ids: string[]
    last_ids: string[]
    log_leaves: Buffer | null
  }
  'hub.log_entries': { tenant_id: string; log_index: number; seal_id: string; first_id: string; last_id: string }
  'hub.log_tiles': { tenant_id: string; level: number; tile_index: number; hashes: Buffer }
  'hub.log_heads': { tenant_id: string; tree_size: number; root: Buffer; checkpoint: string; signed_at: Timestamp }
  'hub.legal_holds': {
    tenant_id: string
    hold_id: string
    name: string
    reason: string
    /** A `RecordFilter`, normalised. */
    filter: unknown
    /** Null with a filter. */
    record_count: number | null
    created_at: Timestamp
    created_by: string
    released_at: Timestamp | null
    released_by: string | null
    release_reason: string | null
    /** Of its beginning. */
    event_id: string | null
    release_event_id: string | null
  }
  'hub.legal_hold_records': { tenant_id: string; record_id: string; hold_id: string }
  'hub.retention_rules': {
    tenant_id: string
    record_type: string
    min_days: number | null
    max_days: number | null
  }
  'hub.retention_settings': { tenant_id: string; four_eyes: boolean; event_id: string | null }
  'hub.tombstones': {
    tenant_id: string
    record_id: string
    record_type: string
    seal_id: string
    leaf_index: number
    purged_at: Timestamp
    purged_by: string
    purge_reason: string
    purge_event_id: string | null
    event_id: string
    erased_at: Timestamp
  }
  'hub.exports': {
    tenant_id: string
    job_id: string
    status: string
    format: string
    compression: string | null
    /** A `RecordFilter`, normalised. */
    filter: unknown
    record_types: string[]
    verify: boolean
    include_provenance: boolean
    created_by: string
    created_at: Timestamp
    estimated_completion_at: Timestamp
    attempt: number
    tries: number
    done: number
    total: number
    started_at: Timestamp | null
    completed_at: Timestamp | null
    expires_at: Timestamp | null
    size_bytes: number | null
    has_files: boolean
    verification_summary: unknown
    error: unknown
  }
  'hub.sweeps': {
    tenant_id: string
    lane: string
    log_index: number
    after_id: string | null
    claimed_until: Timestamp | null
    started_at: Timestamp
    updated_at: Timestamp
    finished_at: Timestamp | null
    checked: number
    failed: number
  }
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
    /** Where it goes on after it broke off. */
    position: unknown
    done: Generated<number>
    total: number | null
    added: Generated<number>
    updated: Generated<number>
    deactivated: Generated<number>
    unmatched: Generated<number>
    skipped: Generated<number>
    /** Only the last process that took it up changes it. */
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
    /** Of the company's directory. */
    source_id: string
    external_id: string
  }
  'hub.coworks': {
    tenant_id: string
    cowork_id: string
    name: string
    /** As PUT gives them. */
    skills: unknown
    archetype_ids: string[]
    created_at: Timestamp
    updated_at: Timestamp
    applied_at: Timestamp | null
    applied_by: string | null
    /** The answer of the last application. */
    application: unknown
  }
  'hub.skill_grants': {
    tenant_id: string
    archetype_id: string
    skill_id: string
    granted_at: Timestamp
    cowork_id: string | null
  }
  'hub.connectors': {
    tenant_id: string
    connector_id: string
    platform: string
    display_name: string
    delivery: 'push' | 'pull'
    publish_url: string | null
    credentials_sealed: Buffer | null
    created_at: Timestamp
    created_by: string
    updated_at: Timestamp
    removed_at: Timestamp | null
  }
  'hub.connector_deliveries': {
    tenant_id: string
    connector_id: string
    claimed_until: Timestamp | null
    claimed_by: string | null
    due_at: Timestamp
    /** The receiver has asked not to be called before. */
    not_before: Timestamp | null
    attempted_at: Timestamp | null
    published_at: Timestamp | null
    etag: string | null
    failures: number
    error: unknown
    /** Of the adapter. */
    state: unknown
  }
  'hub.republishes': {
    tenant_id: string
    job_id: string
    status: string
    created_at: Timestamp
    created_by: string
    started_at: Timestamp | null
    finished_at: Timestamp | null
    done: number
    total: number
    /** By connector. */
    results: unknown
    error: unknown
  }
  'hub.content_keys': {
    tenant_id: string
    key_id: string
    provider: string
    key_ref: string
    /** Null once it was destroyed. */
    wrapped: Buffer | null
    state: 'active' | 'retired' | 'destroyed'
    created_at: Timestamp
    wrapped_at: Timestamp
    retired_at: Timestamp | null
    destroyed_at: Timestamp | null
    event_id: string | null
  }
}
