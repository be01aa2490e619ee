import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { readTenant } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { CmekState, ContentKeyring } from '../cmek/cmek-types.ts'
import type { ProvisionBody, ProvisionResponse } from './provision-schemas.ts'
import { changeSettings, lockSettings, type SettingsRow, settings } from './tenants-store.ts'

/** The provision of a tenant's Hub, with the names of the API. */
type Provision = Static<typeof ProvisionResponse>

export type ProvisionRequest = Static<typeof ProvisionBody>

export type ProvisionService = ReturnType<typeof createProvisionService>

const attemptsMax = 3

export function createProvisionService(
  deps: Pick<ModuleParts, 'database' | 'governance'> & { keyring: ContentKeyring },
) {
  const { database, governance, keyring } = deps

  async function provisionOnce(caller: Caller, request: ProvisionRequest): Promise<Provision> {
    const { tenant } = caller
    const isEncrypted = tenant.mode === 'B'
    const prepared = isEncrypted ? await keyring.prepare(tenant, request.cmek) : undefined
    return database.withTenant(tenant.slug, async (tx) => {
      const before = await lockSettings(tx)
      if (!before) throw new Error(`tenant ${tx.tenantId} has no settings`)
      const now = formatTimestamp(Date.now())
      const { retention_days = before.retention_days } = request
      const after = { provisioned_at: before.provisioned_at ?? now, retention_days }
      const isChanged = await changeSettings(tx, before, after, now)
      if (prepared) await keyring.store(tx, caller, prepared)
      const cmek = isEncrypted ? await keyring.state(tx) : undefined
      const by = { subject: `tenant:${tenant.slug}`, actor: caller }
      const [daysBefore, days] = [daysDetail(before.retention_days), daysDetail(retention_days)]
      if (before.provisioned_at === null) {
        const details = { mode: tenant.mode, ...days, ...keyDetail(cmek) }
        await governance.append(tx, tenant, { kind: 'hub.provisioned', details, ...by })
      } else if (isChanged) {
        const details = { change: 'provision', before: daysBefore, after: days }
        await governance.append(tx, tenant, { kind: 'tenant.config_changed', details, ...by })
      }
      return answer(tenant, after, cmek)
    })
  }

  return {
    /** Returns the problems of a request that are detectable without the key's provider. */
    problemsIn,
    /**
     * Provisions the Hub, or changes its provision; absent members are unchanged. Repeating it changes nothing. Throws
     * `validation-failed` for `cmek` in another mode than B, for its absence in Mode B, and for an unusable key;
     * `hub-unavailable` while the provider of the key cannot be reached.
     */
    async provision(caller: Caller, request: ProvisionRequest): Promise<Provision> {
      const problems = problemsIn(caller.tenant, request)
      if (problems.length > 0) throw validationFailed(problems)
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await provisionOnce(caller, request)
        } catch (error) {
          // Somebody else has changed the keys since they were prepared.
          const isRace = error instanceof DomainError && error.slug === 'concurrent-modification'
          if (!isRace || attempt === attemptsMax) throw error
        }
      }
    },
    get({ tenant }: Caller): Promise<Provision> {
      return readTenant(database, tenant.slug, async (tx) => {
        const cmek = tenant.mode === 'B' ? await keyring.state(tx) : undefined
        return answer(tenant, await settings(tx), cmek)
      })
    },
  }
}

function problemsIn(tenant: Tenant, { cmek }: ValidParts<ProvisionRequest>): PointedError[] {
  if (cmek === undefined || tenant.mode === 'B') return []
  return [{ pointer: '/cmek', detail: `is for Mode B tenants; this tenant runs in Mode ${tenant.mode}` }]
}

/** @param cmek undefined in another mode than B, and after its keys were destroyed: then nothing can be written */
function answer(
  tenant: Tenant,
  row: Pick<SettingsRow, 'provisioned_at' | 'retention_days'> | undefined,
  cmek: CmekState | undefined,
): Provision {
  const { provisioned_at = null, retention_days = null } = row ?? {}
  return {
    tenant: tenant.slug,
    mode: tenant.mode,
    provisioned: provisioned_at !== null && (tenant.mode !== 'B' || cmek !== undefined),
    ...(provisioned_at !== null && { provisioned_at }),
    ...daysDetail(retention_days),
    ...(cmek && { cmek }),
  }
}

function keyDetail(cmek: CmekState | undefined): { cmek?: { provider: string; key_ref: string } } {
  return cmek ? { cmek: { provider: cmek.provider, key_ref: cmek.key_ref } } : {}
}

function daysDetail(retentionDays: number | null): { retention_days?: number } {
  return retentionDays === null ? {} : { retention_days: retentionDays }
}
