import type { TenantTx } from '../../db/database.ts'

/** A published skill as connectors distribute it. */
export interface EntitledSkill {
  skillId: string
  /** The published version that was registered last. */
  skillVersion: string
  name: string
  description?: string
  /** The skill_definition record. */
  recordId: string
  /** `sha256:…` of that record. */
  provenanceHash: string
  /** Content of the skill as its record has it; never in Mode C. */
  manifest?: unknown
  /** To which it is granted, sorted. */
  archetypeIds: readonly string[]
}

export interface SkillGrants {
  /** Every published skill with its grants, sorted by id. */
  published(tx: TenantTx): Promise<EntitledSkill[]>
  counts(tx: TenantTx): Promise<{ published: number; granted: number; grants: number }>
}
