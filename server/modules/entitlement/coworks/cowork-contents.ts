import type { TenantTx } from '../../../db/database.ts'
import { contentEncryptor } from '../../../db/record-encryption.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { StoredSkill } from './coworks-store.ts'
import type { CoworkSkill } from './coworks-types.ts'

/**
 * What a pack says of its skills, but for their ids and versions, is content: in Mode B it is sealed under the tenant's
 * own key, as the same in a skill_definition record is. Without one `seal` throws DomainError `hub-not-provisioned` for
 * a pack that has skills: what a key does not seal, it cannot erase.
 */
export interface CoworkContents {
  seal(tx: TenantTx, tenant: Tenant, coworkId: string, skills: readonly CoworkSkill[]): Promise<StoredSkill[]>
  /** Of a skill that was sealed under a key that is destroyed the id and version are left, and an empty name. */
  open(tx: TenantTx, tenant: Tenant, coworkId: string, skills: readonly StoredSkill[]): Promise<CoworkSkill[]>
}

export function createCoworkContents(secrets: TenantSecrets): CoworkContents {
  return {
    async seal(tx, tenant, coworkId, skills) {
      if (tenant.mode !== 'B' || skills.length === 0) return [...skills]
      await contentEncryptor(tx)
      const stored: StoredSkill[] = []
      for (const skill of skills) {
        const { skill_id, skill_version } = skill
        // All of it, so that its members come back in their order.
        const sealed = await secrets.seal(tx, tenant, JSON.stringify(skill), contextOf(coworkId, skill))
        stored.push({ skill_id, skill_version, name: '', sealed: sealed.toString('base64') })
      }
      return stored
    },
    async open(tx, tenant, coworkId, skills) {
      const opened: CoworkSkill[] = []
      for (const { sealed, ...skill } of skills) {
        const context = contextOf(coworkId, skill)
        const text = sealed && (await secrets.open(tx, tenant, Buffer.from(sealed, 'base64'), context))
        opened.push(text ? (JSON.parse(text) as CoworkSkill) : skill)
      }
      return opened
    },
  }
}

function contextOf(coworkId: string, { skill_id, skill_version }: CoworkSkill): string {
  return `coworks/${coworkId}/${skill_id}@${skill_version}`
}
