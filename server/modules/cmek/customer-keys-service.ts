import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import type { Config } from '../../config.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { CmekState, ContentKeyring, KeyChoice, PreparedKeys } from './cmek-types.ts'
import type { ContentKeys } from './content-keys.ts'
import {
  type ContentKeyRow,
  contentKeys,
  insertContentKey,
  putWrapped,
  retireActiveKey,
  takeContentKeysLock,
} from './content-keys-store.ts'
import { asUnavailable, withoutCustomerKey } from './key-provider-error.ts'
import { activeOf, stateOf } from './key-state.ts'
import { asRefusal, freshKey, isStillThere, requireChoosable, rewrapAll } from './key-wrapping.ts'
import type { KeyProviders } from './providers/key-providers.ts'

/** Keys to store, and the keys they were made from, to detect concurrent changes. */
interface Prepared extends PreparedKeys {
  basis: readonly ContentKeyRow[]
  /** The next active key. */
  fresh: ContentKeyRow | undefined
  rewrapped: readonly ContentKeyRow[]
}

interface CustomerKeysDeps extends Pick<ModuleParts, 'database' | 'governance'> {
  providers: KeyProviders
  keyNames: Config['keyNames']
  contentKeys: Pick<ContentKeys, 'changed'>
}

/** Manages customer keys, and the content keys that they wrap. */
export class CustomerKeys implements ContentKeyring {
  readonly #deps: CustomerKeysDeps

  constructor(deps: CustomerKeysDeps) {
    this.#deps = deps
  }

  async prepare(tenant: Tenant, choice: KeyChoice | undefined): Promise<Prepared | undefined> {
    const basis = await this.#read(tenant)
    const active = activeOf(basis)
    if (active === undefined && choice === undefined) {
      const detail = 'is required: content of a tenant in Mode B is encrypted with its own key'
      throw validationFailed([{ pointer: '/cmek', detail }])
    }
    if (choice === undefined || (active && isSame(active, choice))) return undefined
    requireChoosable(this.#deps, tenant.slug, choice)
    const { providers } = this.#deps
    try {
      return active
        ? { choice, basis, fresh: undefined, rewrapped: await rewrapAll(providers, tenant.slug, basis, choice) }
        : { choice, basis, fresh: await freshKey(providers, tenant.slug, choice), rewrapped: [] }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  async store(tx: TenantTx, caller: Caller, given: PreparedKeys): Promise<void> {
    const prepared = given as Prepared
    const { choice, basis, fresh, rewrapped } = prepared
    await this.#put(tx, prepared)
    const before = activeOf(basis)
    const change = {
      change: 'cmek',
      before: before ? { ...choiceOf(before) } : null,
      after: { ...choice },
      rewrapped_keys: rewrapped.length,
    }
    await this.#deps.governance.append(tx, caller.tenant, {
      kind: fresh ? 'cmek.key_created' : 'tenant.config_changed',
      subject: `tenant:${tx.tenantId}`,
      details: fresh ? { ...choice, key_id: fresh.key_id } : change,
      actor: caller,
    })
  }

  async state(tx: TenantTx): Promise<CmekState | undefined> {
    return stateOf(await contentKeys(tx))
  }

  /**
   * Creates a new content key for future writes and wraps all former ones again under the newest version of the
   * customer's key. Throws DomainError `hub-not-provisioned` without a key, `hub-unavailable` while the provider fails.
   */
  async rotate(caller: Caller): Promise<CmekState> {
    const { tenant } = caller
    const { database, governance } = this.#deps
    const basis = await this.#read(tenant)
    const active = activeOf(basis)
    if (active === undefined) throw withoutCustomerKey(tenant)
    const choice = choiceOf(active)
    const { fresh, rewrapped } = await this.#rewrapWithNewKey(tenant, basis, choice)
    return database.withTenant(tenant.slug, async (tx) => {
      await this.#put(tx, { choice, basis, fresh, rewrapped })
      await governance.append(tx, tenant, {
        kind: 'cmek.key_rotated',
        subject: `tenant:${tenant.slug}`,
        details: {
          ...choice,
          key_id: fresh.key_id,
          former_key_id: active.key_id,
          rewrapped_keys: rewrapped.length,
        },
        actor: caller,
      })
      return stateOf(await contentKeys(tx))!
    })
  }

  async #rewrapWithNewKey({ slug }: Tenant, basis: readonly ContentKeyRow[], choice: KeyChoice) {
    const { providers } = this.#deps
    try {
      const rewrapped = await rewrapAll(providers, slug, basis, choice)
      return { rewrapped, fresh: await freshKey(providers, slug, choice) }
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  #read({ slug }: Tenant): Promise<ContentKeyRow[]> {
    return readTenant(this.#deps.database, slug, contentKeys)
  }

  /** Stores prepared keys if the keys are unchanged since. */
  async #put(tx: TenantTx, { basis, fresh, rewrapped }: Prepared): Promise<void> {
    await takeContentKeysLock(tx)
    if (!isUnchanged(await contentKeys(tx), basis)) throw changedMeanwhile()
    for (const row of rewrapped) await putWrapped(tx, row)
    if (fresh) {
      if (!(await isStillThere(this.#deps.providers, tx.tenantId, fresh))) throw changedMeanwhile()
      await retireActiveKey(tx, fresh.created_at)
      await insertContentKey(tx, fresh)
    }
    tx.afterCommit(() => this.#deps.contentKeys.changed(tx.tenantId))
  }
}

function choiceOf({ provider, key_ref }: ContentKeyRow): KeyChoice {
  return { provider: provider as KeyChoice['provider'], key_ref }
}

function isSame(row: ContentKeyRow, { provider, key_ref }: KeyChoice): boolean {
  return row.provider === provider && row.key_ref === key_ref
}

/** Returns whether the keys are still those the preparation started from. */
function isUnchanged(now: readonly ContentKeyRow[], basis: readonly ContentKeyRow[]): boolean {
  const text = (rows: readonly ContentKeyRow[]) =>
    rows.map(({ key_id, state, wrapped }) => `${key_id} ${state} ${wrapped?.toString('base64')}`).join('\n')
  return text(now) === text(basis)
}

function changedMeanwhile(): DomainError {
  return new DomainError(
    'concurrent-modification',
    'Another request is changing the keys of this tenant. Repeat the request.',
  )
}
