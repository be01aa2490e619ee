import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { contentSealer } from '../../../db/record-contents.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { StoredSkill } from './coworks-store.ts'
import type { CoworkSkill } from './coworks-types.ts'

/**
 * Descriptions and manifests of packs are content: in Mode B they are sealed under the tenant's own key. Without one
 * `seal` throws DomainError `hub-not-provisioned` for a pack that has any: what a key does not seal, it cannot erase.
 */
export interface CoworkContents {
  seal(tx: TenantTx, tenant: Tenant, coworkId: string, skills: readonly CoworkSkill[]): Promise<StoredSkill[]>
  /** What was sealed under a key that is destroyed is left out. */
  open(tx: TenantTx, tenant: Tenant, coworkId: string, skills: readonly StoredSkill[]): Promise<CoworkSkill[]>
}

type Content = Pick<CoworkSkill, 'description' | 'manifest'>

export function createCoworkContents(secrets: TenantSecrets): CoworkContents {
  return {
    async seal(tx, tenant, coworkId, skills) {
      if (tenant.mode !== 'B') return [...skills]
      const stored: StoredSkill[] = []
      for (const { description, manifest, ...skill } of skills) {
        const content: Content = { ...(description !== undefined && { description }), ...(manifest && { manifest }) }
        if (Object.keys(content).length === 0) stored.push(skill)
        else {
          await contentSealer(tx)
          const sealed = await secrets.seal(tx, tenant, JSON.stringify(content), contextOf(coworkId, skill))
          stored.push({ ...skill, sealed: sealed.toString('base64') })
        }
      }
      return stored
    },
    async open(tx, tenant, coworkId, skills) {
      const opened: CoworkSkill[] = []
      for (const { sealed, ...skill } of skills) {
        if (sealed === undefined) opened.push(skill)
        else opened.push({ ...skill, ...(await contentOf(tx, tenant, sealed, contextOf(coworkId, skill))) })
      }
      return opened
    },
  }

  async function contentOf(tx: TenantTx, tenant: Tenant, sealed: string, context: string): Promise<Content> {
    const text = await secrets.open(tx, tenant, Buffer.from(sealed, 'base64'), context)
    return text === undefined ? {} : (JSON.parse(text) as JsonObject)
  }
}

function contextOf(coworkId: string, { skill_id, skill_version }: CoworkSkill): string {
  return `coworks/${coworkId}/${skill_id}@${skill_version}`
}
