import type { RateClass } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { settingsRows, tenantRows } from '../../db/proven-rows.ts'
import { type RowDigests, rowDigests } from '../../db/row-digests.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import { addressTaken, checkChanges, existingTenant, provenTenant } from './tenant-checks.ts'
import { asTenant } from './tenant-directory.ts'
import type { TenantHostPolicy } from './tenant-host-policy.ts'
import { entryOf, operatedTenant } from './tenant-response.ts'
import {
  changeSettings,
  limits,
  lockSettings,
  ownEntry,
  provenEntry,
  putLimit,
  removeLimit,
  setOwnEntry,
  settings,
  type TenantRow,
  tenantsAfter,
} from './tenants-store.ts'
import type { OperatedTenant, TenantChanges } from './tenants-types.ts'

/** The rows that a change makes valid, and those of which it keeps a part. */
interface Digests {
  now?: RowDigests
  former?: RowDigests
}

interface OperatedTenantsDeps extends TenantHostPolicy, Pick<ModuleParts, 'database' | 'governance' | 'cursorKey'> {
  links: Pick<SignInLinks, 'endOpen'>
  /** Called after a commit that changed a tenant. */
  changed: (slug: string) => void
}

/** The operator's list belongs to no tenant. */
const listBinding = { tenant: '', operation: 'listTenants', query: {} }

/** Lists and changes tenants for the operator. Methods that name a tenant throw `not-found` if it does not exist. */
export class OperatedTenants {
  readonly #deps: OperatedTenantsDeps

  constructor(deps: OperatedTenantsDeps) {
    this.#deps = deps
  }

  /** Lists tenants in slug order. */
  async list(asked: PageRequest) {
    const { database, cursorKey, baseUrl } = this.#deps
    const page = openPage<string>(cursorKey, listBinding, asked)
    const rows = await database.withRegistry((tx) => tenantsAfter(tx, page.after ?? '', page.count))
    const { shown, next_cursor } = page.of(rows, (last) => last.slug)
    return { items: shown.map((row) => entryOf(row, baseUrl())), next_cursor }
  }

  async get(slug: string): Promise<OperatedTenant> {
    await existingTenant(this.#deps.database, slug)
    return readTenant(this.#deps.database, slug, (tx) => this.#stateOf(tx))
  }

  /**
   * Changes a tenant. Writes one `tenant.config_changed` event if anything differs. Throws `validation-failed`, and
   * `concurrent-modification` if another tenant has that address.
   */
  async update(slug: string, wanted: TenantChanges, actor: Actor): Promise<OperatedTenant> {
    const { database, governance, baseUrl, changed } = this.#deps
    const changes = checkChanges((await provenTenant(database, slug)).mode, wanted, this.#deps)
    return database.withTenant(slug, async (tx) => {
      await lockSettings(tx)
      const before = await this.#stateOf(tx)
      const entry = provenEntry(tx, await ownEntry(tx))
      if (!entry) throw new Error(`the entry of tenant ${slug} was edited concurrently`)
      const now = formatTimestamp(Date.now())
      const ofSettings = await this.#changeSettings(tx, changes, now)
      const ofEntry = await changeEntry(tx, entry, changes, now)
      const after = await this.#stateOf(tx)
      const details = eventDetails(before, after, { ...ofEntry, now: { ...ofSettings, ...ofEntry.now } })
      if (details) {
        tx.afterCommit(() => changed(slug))
        await governance.append(tx, asTenant({ ...entry, base_url: after.base_url }, baseUrl()), {
          kind: 'tenant.config_changed',
          subject: `tenant:${slug}`,
          details,
          actor,
        })
      }
      return after
    })
  }

  async #stateOf(tx: TenantTx): Promise<OperatedTenant> {
    const [entry, kept, own] = [await ownEntry(tx), await settings(tx), await limits(tx)]
    if (!entry || !kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    return operatedTenant(entry, kept, own, this.#deps.baseUrl())
  }

  /** Returns a digest only if the address changes: an event must not confirm a row that the change did not write. */
  async #changeSettings(tx: TenantTx, changes: TenantChanges, now: string): Promise<RowDigests> {
    const kept = await lockSettings(tx)
    if (!kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    const { display_name = kept.display_name, admin_email = kept.admin_email, export_quota = {} } = changes
    const { exports_per_day = kept.exports_per_day, mb_kept: export_mb_kept = kept.export_mb_kept } = export_quota
    if (admin_email !== kept.admin_email) await this.#deps.links.endOpen(tx, 'welcome')
    await changeSettings(tx, kept, { display_name, admin_email, exports_per_day, export_mb_kept }, now)
    for (const [rateClass, limit] of Object.entries(changes.limits ?? {})) {
      if (limit === null) await removeLimit(tx, rateClass as RateClass)
      else await putLimit(tx, rateClass as RateClass, limit)
    }
    return admin_email === kept.admin_email ? {} : rowDigests(tx, settingsRows, { admin_email })
  }
}

async function changeEntry(tx: TenantTx, former: TenantRow, changes: TenantChanges, now: string): Promise<Digests> {
  const { base_url: address = former.base_url, suspended = former.suspended_at !== null } = changes
  const entry = { ...former, base_url: address, suspended_at: suspended ? (former.suspended_at ?? now) : null }
  if (entry.base_url === former.base_url && entry.suspended_at === former.suspended_at) return {}
  if (!(await setOwnEntry(tx, entry))) throw addressTaken(address ?? '')
  const keepsPart = changes.base_url === undefined || changes.suspended === undefined
  return { now: rowDigests(tx, tenantRows, entry), ...(keepsPart && { former: rowDigests(tx, tenantRows, former) }) }
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
  const { now, former } = digests
  return {
    ...{ change: 'tenant', changed, before: pick(before), after: pick(after) },
    ...(isProvenAgain && { row_digests: now }),
    ...(former && { former_row_digests: former }),
  }
}
