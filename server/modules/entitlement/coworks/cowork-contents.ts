import type { TenantTx } from '../../../db/database.ts'
import { contentEncryptor } from '../../../db/record-encryption.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { StoredSkill } from './coworks-store.ts'
import type { CoworkSkill } from './coworks-types.ts'

export type CoworkContents = ReturnType<typeof createCoworkContents>

/**
 * Encrypts and decrypts the skills of packs. Apart from ids and versions, they are content: in Mode B the tenant's own
 * key encrypts them, as it encrypts skill_definition records. Without a key `seal` throws DomainError
 * `hub-not-provisioned` for a pack with skills: content without a key cannot be erased by destroying the key.
 */
export function createCoworkContents(secrets: TenantSecrets) {
  return {
    async encrypt(
      tx: TenantTx,
      tenant: Tenant,
      coworkId: string,
      skills: readonly CoworkSkill[],
    ): Promise<StoredSkill[]> {
      if (tenant.mode !== 'B' || skills.length === 0) return [...skills]
      await contentEncryptor(tx)
      const stored: StoredSkill[] = []
      for (const skill of skills) {
        const { skill_id, skill_version } = skill
        // Encrypts the whole skill, so that decryption restores the order of its members.
        const sealed = await secrets.encrypt(tx, tenant, JSON.stringify(skill), contextOf(coworkId, skill))
        stored.push({ skill_id, skill_version, name: '', sealed: sealed.toString('base64') })
      }
      return stored
    },
    /** Decrypts skills. If the key of a skill was destroyed, only id and version remain, with an empty name. */
    async decrypt(
      tx: TenantTx,
      tenant: Tenant,
      coworkId: string,
      skills: readonly StoredSkill[],
    ): Promise<CoworkSkill[]> {
      const opened: CoworkSkill[] = []
      for (const { sealed, ...skill } of skills) {
        const context = contextOf(coworkId, skill)
        const text = sealed && (await secrets.decrypt(tx, tenant, Buffer.from(sealed, 'base64'), context))
        opened.push(text ? (JSON.parse(text) as CoworkSkill) : skill)
      }
      return opened
    },
  }
}

function contextOf(coworkId: string, { skill_id, skill_version }: CoworkSkill): string {
  return `coworks/${coworkId}/${skill_id}@${skill_version}`
}
