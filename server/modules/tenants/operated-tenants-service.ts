import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import type { RateClass } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import { settingsRows, tenantRows } from '../../db/proven-rows.ts'
import { type RowDigests, rowDigests } from '../../db/row-digests.ts'
import { openCursor, pageOf, signCursor } from '../../http/cursor.ts'
import type { Actor, GovernanceLog } from '../governance/governance-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import { addressTaken, checkExportQuota, checkLimit, existingTenant, provenTenant } from './tenant-checks.ts'
import { asTenant } from './tenant-directory.ts'
import { readTenantHost, type TenantHostPolicy } from './tenant-host-policy.ts'
import { entryOf, operatedTenant } from './tenant-response.ts'
import {
  limits,
  lockSettings,
  ownEntry,
  provenEntry,
  putLimit,
  removeLimit,
  type SettingsRow,
  setDetails,
  setExportQuota,
  setOwnEntry,
  settings,
  type TenantRow,
  tenantsAfter,
} from './tenants-store.ts'
import type { OperatedTenant, OperatedTenants, TenantChanges } from './tenants-types.ts'

/** The rows that a change makes valid, and those of which it keeps a part. */
interface Digests {
  now?: RowDigests
  former?: RowDigests
}

/** The operator's list belongs to no tenant. */
const listBinding = { tenant: '', operation: 'listTenants', query: {} }

export function createOperatedTenants(
  deps: TenantHostPolicy & {
    database: Database
    governance: GovernanceLog
    links: Pick<SignInLinks, 'endOpen'>
    /** Called after a commit that changed a tenant. */
    changed: (slug: string) => void
    cursorKey: Buffer
  },
): OperatedTenants {
  const { database, governance, links, cursorKey, baseUrl } = deps

  async function stateOf(tx: TenantTx): Promise<OperatedTenant> {
    const [entry, kept, own] = [await ownEntry(tx), await settings(tx), await limits(tx)]
    if (!entry || !kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    return operatedTenant(entry, kept, own, baseUrl())
  }

  /** Validates the changes as far as the request alone permits. Returns them with the normalized address. */
  function checked(row: TenantRow, changes: TenantChanges): TenantChanges {
    const errors: PointedError[] = []
    const { admin_email: adminEmail, base_url: address } = changes
    if (adminEmail !== undefined && !isEmail(adminEmail)) {
      errors.push({ pointer: '/admin_email', detail: 'must be an e-mail address' })
    }
    const read = address == null ? undefined : readTenantHost(address, row.mode, deps)
    if (read && 'problem' in read) errors.push({ pointer: '/base_url', detail: read.problem })
    if (errors.length > 0) throw validationFailed(errors)
    for (const [name, limit] of Object.entries(changes.limits ?? {})) {
      if (limit) checkLimit({ perToken: limit.per_token, perTenant: limit.per_tenant }, `/limits/${name}`)
    }
    if (changes.export_quota) checkExportQuota(changes.export_quota)
    return read && 'address' in read ? { ...changes, base_url: read.address } : changes
  }

  async function changeEntry(tx: TenantTx, former: TenantRow, changes: TenantChanges, now: string): Promise<Digests> {
    const { base_url: address = former.base_url, suspended = former.suspended_at !== null } = changes
    const entry = { ...former, base_url: address, suspended_at: suspended ? (former.suspended_at ?? now) : null }
    if (entry.base_url === former.base_url && entry.suspended_at === former.suspended_at) return {}
    if (!(await setOwnEntry(tx, entry))) throw addressTaken(address ?? '')
    const keepsPart = changes.base_url === undefined || changes.suspended === undefined
    return { now: rowDigests(tx, tenantRows, entry), ...(keepsPart && { former: rowDigests(tx, tenantRows, former) }) }
  }

  /** Returns a digest only if the address changes: an event must not confirm a row that the change did not write. */
  async function changeSettings(tx: TenantTx, changes: TenantChanges, now: string): Promise<RowDigests> {
    const kept = await lockSettings(tx)
    if (!kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    const { display_name: displayName = kept.display_name, admin_email: adminEmail = kept.admin_email } = changes
    if (adminEmail !== kept.admin_email) await links.endOpen(tx, 'welcome')
    if (displayName !== kept.display_name || adminEmail !== kept.admin_email) {
      const { contact_email: contactEmail, confirmed_at: confirmedAt } = kept
      const changedEmail = adminEmail === kept.admin_email ? undefined : adminEmail
      await setDetails(tx, { displayName, adminEmail: changedEmail, contactEmail, confirmedAt, now })
    }
    await changeExportQuota(tx, kept, changes.export_quota, now)
    for (const [name, limit] of Object.entries(changes.limits ?? {})) {
      const rateClass = name as RateClass
      if (limit === null) await removeLimit(tx, rateClass)
      if (limit) await putLimit(tx, rateClass, { perToken: limit.per_token, perTenant: limit.per_tenant })
    }
    return adminEmail === kept.admin_email ? {} : rowDigests(tx, settingsRows, { admin_email: adminEmail })
  }

  async function changeExportQuota(
    tx: TenantTx,
    kept: SettingsRow,
    quota: TenantChanges['export_quota'],
    now: string,
  ): Promise<void> {
    const { exports_per_day: exportsPerDay = kept.exports_per_day, mb_kept: mbKept = kept.export_mb_kept } = quota ?? {}
    if (exportsPerDay === kept.exports_per_day && mbKept === kept.export_mb_kept) return
    await setExportQuota(tx, { exportsPerDay, mbKept, now })
  }

  return {
    async list({ limit, cursor }) {
      const after = cursor === undefined ? '' : String(openCursor(cursorKey, listBinding, cursor))
      const rows = await database.withRegistry((tx) => tenantsAfter(tx, after, limit + 1))
      const { shown, next_cursor } = pageOf(rows, limit, (last) => signCursor(cursorKey, listBinding, last.slug))
      return { items: shown.map((row) => entryOf(row, baseUrl())), next_cursor }
    },

    async get(slug) {
      await existingTenant(database, slug)
      return database.withTenant(slug, stateOf, { readOnly: true })
    },

    async update(slug, wanted, actor: Actor) {
      const changes = checked(await provenTenant(database, slug), wanted)
      return database.withTenant(slug, async (tx) => {
        await lockSettings(tx)
        const before = await stateOf(tx)
        const entry = provenEntry(tx, await ownEntry(tx))
        if (!entry) throw new Error(`the entry of tenant ${slug} was edited concurrently`)
        const now = formatTimestamp(Date.now())
        const ofSettings = await changeSettings(tx, changes, now)
        const ofEntry = await changeEntry(tx, entry, changes, now)
        const digests = { ...ofEntry, now: { ...ofSettings, ...ofEntry.now } }
        const after = await stateOf(tx)
        const details = eventDetails(before, after, digests)
        if (details) {
          tx.afterCommit(() => deps.changed(slug))
          await governance.append(tx, asTenant({ ...entry, base_url: after.base_url }, baseUrl()), {
            kind: 'tenant.config_changed',
            subject: `tenant:${slug}`,
            details,
            actor,
          })
        }
        return after
      })
    },
  }
}

/**
 * Returns the differences without addresses of people, which could not be erased. Returns undefined without a
 * difference.
 */
function eventDetails(
  before: OperatedTenant,
  after: OperatedTenant,
  digests: Digests,
): Record<string, JsonValue> | undefined {
  const isProvenAgain = Object.keys(digests.now ?? {}).length > 0
  const names = ['display_name', 'admin_email', 'base_url', 'suspended', 'limits', 'export_quota'] as const
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (changed.length === 0 && !isProvenAgain) return undefined
  const recorded = changed.filter((name) => name !== 'admin_email')
  const pick = (state: OperatedTenant) => Object.fromEntries(recorded.map((name) => [name, state[name] as JsonValue]))
  const states = { before: pick(before), after: pick(after) }
  const { now, former } = digests
  return {
    change: 'tenant',
    changed,
    ...states,
    ...(isProvenAgain && { row_digests: now }),
    ...(former && { former_row_digests: former }),
  }
}
