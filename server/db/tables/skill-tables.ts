import type { SkillState } from '../../../contract/literals.ts'
import type { Timestamp } from './timestamp.ts'

/** Tables of skills, packs and grants, and of their distribution to the platforms. */
export interface SkillTables {
  'hub.skills': {
    tenant_id: string
    skill_id: string
    state: SkillState
    created_at: Timestamp
    updated_at: Timestamp
  }
  'hub.skill_versions': {
    tenant_id: string
    skill_id: string
    skill_version: string
    state: SkillState
    /** Null once its record was erased. */
    name: string | null
    record_id: string
    created_at: Timestamp
  }
  'hub.coworks': {
    tenant_id: string
    cowork_id: string
    name: string
    /** The skills in the form of PUT. */
    skills: unknown
    archetype_ids: string[]
    created_at: Timestamp
    updated_at: Timestamp
    applied_at: Timestamp | null
    applied_by: string | null
    /** The response of the last application. */
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
    /** The earliest time for a call, as requested by the receiver. */
    not_before: Timestamp | null
    attempted_at: Timestamp | null
    published_at: Timestamp | null
    etag: string | null
    failures: number
    error: unknown
    /** The state of the adapter. */
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
    /** The results by connector. */
    results: unknown
    error: unknown
  }
}
