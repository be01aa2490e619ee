import type { Timestamp } from './timestamp.ts'

/** Tables of records, their seals and log, retention and erasure, and exports. */
export interface RecordTables {
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
  'hub.content_keys': {
    tenant_id: string
    key_id: string
    provider: string
    key_ref: string
    /** Null once the key was destroyed. */
    wrapped: Buffer | null
    state: 'active' | 'retired' | 'destroyed'
    created_at: Timestamp
    wrapped_at: Timestamp
    retired_at: Timestamp | null
    destroyed_at: Timestamp | null
    event_id: string | null
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
    /** The cost in micro-dollars. */
    cost_micros: number | null
    seal_id: string
    leaf_index: number
    salt: Buffer
    provenance_hash: Buffer
    canonical: string
    /** Only telemetry events have one, if they name it. */
    trace_id: string | null
    session_id: string | null
  }
  'hub.seals': {
    tenant_id: string
    seal_id: string
    key_id: string
    sealed_at: Timestamp
    leaves: Buffer
    /** Null in seals that are older than the column. */
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
    /** The end of the year 9999 while a hold freezes the recovery period. */
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
    /** The event that reports the finding; every row has one. */
    event_id: string | null
  }
  'hub.idempotency_keys': {
    tenant_id: string
    key_digest: Buffer
    request_digest: Buffer
    answer: unknown
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
    /** Null for a filter. */
    record_count: number | null
    created_at: Timestamp
    created_by: string
    released_at: Timestamp | null
    released_by: string | null
    release_reason: string | null
    /** The event of its placement. */
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
    /** An `ExportFilter`, normalised. */
    filter: unknown
    record_types: string[]
    /** The `PackRequest` of an evidence pack; null for an export. */
    pack: unknown
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
  'hub.search_documents': { tenant_id: string; record_id: string; record_type: string; words: string }
  'hub.search_progress': {
    tenant_id: string
    language: string
    record_type: string
    after_id: string
    finished_at: Timestamp | null
  }
}
