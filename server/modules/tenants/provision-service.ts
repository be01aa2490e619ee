import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import type { TenantMode } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { CmekState, ContentKeyring, KeyChoice } from '../cmek/cmek-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { lockSettings, type SettingsRow, setProvision, settings } from './tenants-store.ts'

/** The provision of a tenant's Hub, with the names of the API. */
export interface Provision {
  tenant: string
  mode: TenantMode
  provisioned: boolean
  provisioned_at?: string
  retention_days?: number
  /** The state of the customer key; Mode B only. */
  cmek?: CmekState
}

export interface ProvisionRequest {
  retention_days?: number
  cmek?: KeyChoice
}

export interface ProvisionService {
  /** Returns the problems of a request that are detectable without the key's provider. */
  problemsIn(tenant: Tenant, request: ValidParts<ProvisionRequest>): PointedError[]
  /**
   * Provisions the Hub, or changes its provision; absent members are unchanged. Repeating it changes nothing. Throws
   * `validation-failed` for `cmek` in another mode than B, for its absence in Mode B, and for an unusable key;
   * `hub-unavailable` while the provider of the key cannot be reached.
   */
  provision(caller: Caller, request: ProvisionRequest): Promise<Provision>
  get(caller: Caller): Promise<Provision>
}

const attemptsMax = 3

export function createProvisionService(deps: {
  database: Database
  governance: GovernanceLog
  /** Known after all modules are created. */
  keyring: ContentKeyring
}): ProvisionService {
  async function provisionOnce(caller: Caller, request: ProvisionRequest): Promise<Provision> {
    const { tenant } = caller
    const isEncrypted = tenant.mode === 'B'
    const prepared = isEncrypted ? await deps.keyring.prepare(tenant, request.cmek) : undefined
    return deps.database.withTenant(tenant.slug, async (tx) => {
      const before = await lockSettings(tx)
      const after = await store(tx, before, request.retention_days)
      if (prepared) await deps.keyring.store(tx, caller, prepared)
      const cmek = isEncrypted ? await deps.keyring.state(tx) : undefined
      const changed = before?.retention_days !== after.retentionDays
      if (before?.provisioned_at == null) {
        await deps.governance.append(tx, tenant, {
          kind: 'hub.provisioned',
          subject: `tenant:${tenant.slug}`,
          details: { mode: tenant.mode, ...daysDetail(after.retentionDays), ...keyDetail(cmek) },
          actor: caller,
        })
      } else if (changed) {
        await deps.governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${tenant.slug}`,
          details: {
            change: 'provision',
            before: daysDetail(before.retention_days),
            after: daysDetail(after.retentionDays),
          },
          actor: caller,
        })
      }
      return answer(tenant, after.provisionedAt, after.retentionDays, cmek)
    })
  }

  return {
    problemsIn,
    async provision(caller, request) {
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
    get({ tenant }) {
      return deps.database.withTenant(
        tenant.slug,
        async (tx) => {
          const row = await settings(tx)
          const cmek = tenant.mode === 'B' ? await deps.keyring.state(tx) : undefined
          return answer(tenant, row?.provisioned_at ?? null, row?.retention_days ?? null, cmek)
        },
        { readOnly: true },
      )
    },
  }
}

function problemsIn(tenant: Tenant, { cmek }: ValidParts<ProvisionRequest>): PointedError[] {
  if (cmek === undefined || tenant.mode === 'B') return []
  return [{ pointer: '/cmek', detail: `is for Mode B tenants; this tenant runs in Mode ${tenant.mode}` }]
}

async function store(tx: TenantTx, before: SettingsRow | undefined, wantedDays: number | undefined) {
  if (!before) throw new Error(`tenant ${tx.tenantId} has no settings`)
  const now = formatTimestamp(Date.now())
  const provisionedAt = before.provisioned_at ?? now
  const retentionDays = wantedDays ?? before.retention_days
  if (before.provisioned_at === null || retentionDays !== before.retention_days) {
    await setProvision(tx, { provisionedAt, retentionDays, now })
  }
  return { provisionedAt, retentionDays }
}

/** @param cmek undefined in another mode than B, and after its keys were destroyed: then nothing can be written */
function answer(
  tenant: Tenant,
  provisionedAt: string | null,
  retentionDays: number | null,
  cmek: CmekState | undefined,
): Provision {
  return {
    tenant: tenant.slug,
    mode: tenant.mode,
    provisioned: provisionedAt !== null && (tenant.mode !== 'B' || cmek !== undefined),
    ...(provisionedAt === null ? {} : { provisioned_at: provisionedAt }),
    ...daysDetail(retentionDays),
    ...(cmek && { cmek }),
  }
}

function keyDetail(cmek: CmekState | undefined): { cmek?: { provider: string; key_ref: string } } {
  return cmek ? { cmek: { provider: cmek.provider, key_ref: cmek.key_ref } } : {}
}

function daysDetail(retentionDays: number | null): { retention_days?: number } {
  return retentionDays === null ? {} : { retention_days: retentionDays }
}
