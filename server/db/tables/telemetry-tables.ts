import type { ColumnType } from 'kysely'
import type { Timestamp } from './timestamp.ts'

/** Tables of telemetry rollups and prices. */
export interface TelemetryTables {
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
    /** Null for events that succeeded, and in views without this dimension. */
    error_code: string | null
    invocations: number
    failures: number
    /** A numeric, so its type is text. */
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
  'hub.otlp_mappings': { tenant_id: string; mapping: ColumnType<unknown, string, string>; updated_at: Timestamp }
  'hub.session_skills': { tenant_id: string; session_id: string; skill_id: string | null; activated_at: Timestamp }
  'hub.telemetry_ratings': {
    tenant_id: string
    record_id: string
    cost_computed_micros: number | null
    price_source: string | null
    rated_at: Timestamp
  }
  'hub.adjustment_proofs': {
    tenant_id: string
    ratings: string
    erased: string
    event_id: string | null
    proof: Buffer | null
  }
  'hub.rating_runs': {
    tenant_id: string
    run_id: string
    position: string
    until_id: string
    checked: number
    changed: number
    unreadable: number
    /** A numeric, so its type is text. */
    cost_before_micros: string
    cost_after_micros: string
    finished_at: Timestamp | null
    proof: Buffer | null
  }
}
