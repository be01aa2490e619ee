import type { TenantTx } from '../../db/database.ts'

/** A published skill in the form that connectors distribute. */
export interface EntitledSkill {
  skillId: string
  /** The most recently registered published version. */
  skillVersion: string
  name: string
  description?: string
  /** Id of the skill_definition record. */
  recordId: string
  /** `sha256:…` of that record. */
  provenanceHash: string
  /** Content of the skill from its record; never in Mode C. */
  manifest?: unknown
  /** The archetypes it is granted to, sorted. */
  archetypeIds: readonly string[]
}

export interface SkillGrants {
  /** Returns every published skill with its grants, sorted by id. */
  published(tx: TenantTx): Promise<EntitledSkill[]>
  counts(tx: TenantTx): Promise<{ published: number; granted: number; grants: number }>
}
