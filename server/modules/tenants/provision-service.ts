import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import type { TenantMode } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { lockSettings, type SettingsRow, setProvision, settings } from './tenants-store.ts'

/** How the Hub of a tenant is provisioned, in the names of the answer. */
export interface Provision {
  tenant: string
  mode: TenantMode
  provisioned: boolean
  provisioned_at?: string
  retention_days?: number
}

export interface ProvisionRequest {
  retention_days?: number
  cmek?: unknown
}

export interface ProvisionService {
  /**
   * Provisions the Hub, or changes how it is provisioned; what is not given stays. Repeating it changes nothing.
   * Throws `hub-not-provisioned` for a Mode B tenant and `validation-failed` for `cmek` in another mode.
   */
  provision(caller: Caller, request: ProvisionRequest): Promise<Provision>
  get(caller: Caller): Promise<Provision>
}

export function createProvisionService(deps: { database: Database; governance: GovernanceLog }): ProvisionService {
  return {
    provision(caller, request) {
      const { tenant } = caller
      checkMode(tenant, request)
      return deps.database.withTenant(tenant.slug, async (tx) => {
        const before = await lockSettings(tx)
        const after = await store(tx, before, request.retention_days)
        const changed = before?.retention_days !== after.retentionDays
        if (before?.provisioned_at == null) {
          await deps.governance.append(tx, tenant, {
            kind: 'hub.provisioned',
            subject: `tenant:${tenant.slug}`,
            details: { mode: tenant.mode, ...daysDetail(after.retentionDays) },
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
        return answer(tenant, after.provisionedAt, after.retentionDays)
      })
    },
    get({ tenant }) {
      return deps.database.withTenant(
        tenant.slug,
        async (tx) => {
          const row = await settings(tx)
          return answer(tenant, row?.provisioned_at ?? null, row?.retention_days ?? null)
        },
        { readOnly: true },
      )
    },
  }
}

function checkMode(tenant: Tenant, request: ProvisionRequest): void {
  if (tenant.mode === 'B') {
    throw new DomainError(
      'hub-not-provisioned',
      'Mode B keeps content under a key of the customer (`cmek`), which this version of the Hub does not offer yet.',
      { errors: [{ pointer: '/cmek', detail: 'is not available in this version' }] },
    )
  }
  if (request.cmek !== undefined) {
    throw validationFailed([
      { pointer: '/cmek', detail: `is for Mode B tenants; this tenant runs in Mode ${tenant.mode}` },
    ])
  }
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

function answer(tenant: Tenant, provisionedAt: string | null, retentionDays: number | null): Provision {
  return {
    tenant: tenant.slug,
    mode: tenant.mode,
    provisioned: provisionedAt !== null,
    ...(provisionedAt === null ? {} : { provisioned_at: provisionedAt }),
    ...daysDetail(retentionDays),
  }
}

function daysDetail(retentionDays: number | null): { retention_days?: number } {
  return retentionDays === null ? {} : { retention_days: retentionDays }
}
