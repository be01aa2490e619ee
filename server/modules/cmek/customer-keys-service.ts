import { randomBytes } from 'node:crypto'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Config } from '../../config.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { CmekState, ContentKeyring, KeyChoice, PreparedKeys } from './cmek-types.ts'
import { contentKeyBytes, newKeyId } from './content-cipher.ts'
import type { ContentKeys } from './content-keys.ts'
import {
  type ContentKeyRow,
  contentKeys,
  insertContentKey,
  putWrapped,
  retireActiveKey,
  takeContentKeysLock,
} from './content-keys-store.ts'
import { mayUseKey } from './key-names.ts'
import { asUnavailable, KeyProviderError, withoutCustomerKey } from './key-provider-error.ts'
import { activeOf, live, stateOf } from './key-state.ts'
import { type KeyProviders, providerNamed } from './providers/key-providers.ts'

/** Keys to store, and the keys they were made from, to detect concurrent changes. */
interface Prepared extends PreparedKeys {
  basis: readonly ContentKeyRow[]
  /** The next active key. */
  fresh: ContentKeyRow | undefined
  rewrapped: readonly ContentKeyRow[]
}

/** Manages customer keys, and the content keys that they wrap. */
export interface CustomerKeys extends ContentKeyring {
  /**
   * Creates a new content key for future writes and wraps all former ones again under the newest version of the
   * customer's key. Throws DomainError `hub-not-provisioned` without a key, `hub-unavailable` while the provider fails.
   */
  rotate(caller: Caller): Promise<CmekState>
}

export function createCustomerKeys(deps: {
  database: Database
  governance: GovernanceLog
  providers: KeyProviders
  keyNames: Config['keyNames']
  contentKeys: Pick<ContentKeys, 'changed'>
}): CustomerKeys {
  const { database, governance, providers } = deps

  /**
   * Rejects a key the tenant may not use, without a request to its provider, so that nothing about foreign keys is
   * revealed.
   */
  function requireChoosable(tenant: Tenant, choice: KeyChoice): void {
    const { provider, key_ref } = choice
    const found = providers[provider]
    if (found === undefined) {
      const detail = `is not configured in this Hub: ${setUpBy[provider]}`
      throw validationFailed([{ pointer: '/cmek/provider', detail }])
    }
    const problem = found.problemOf(key_ref) ?? (mayUseKey(deps.keyNames, tenant.slug, choice) ? undefined : noSuchKey)
    if (problem !== undefined) throw validationFailed([{ pointer: '/cmek/key_ref', detail: problem }])
  }

  const readRows = (tenant: Tenant) => database.withTenant(tenant.slug, (tx) => contentKeys(tx), { readOnly: true })

  /** Wraps and unwraps a key: a customer key that cannot do both would lose the content encrypted under it. */
  async function wrapped(choice: KeyChoice, key: Buffer, tenant: string, keyId: string): Promise<Buffer> {
    const provider = providerNamed(providers, choice.provider)
    const context = { tenant, keyId }
    const made = await provider.wrap(choice.key_ref, key, context)
    const back = await provider.unwrap(choice.key_ref, made, context)
    const isSame = back.equals(key)
    back.fill(0)
    if (!isSame) throw new KeyProviderError('The key did not decrypt what it encrypted.', { isAway: false })
    return made
  }

  async function freshKey(tenant: Tenant, choice: KeyChoice): Promise<ContentKeyRow> {
    const key_id = newKeyId()
    const key = randomBytes(contentKeyBytes)
    try {
      const now = formatTimestamp(Date.now())
      return {
        ...{ key_id, ...choice, wrapped: await wrapped(choice, key, tenant.slug, key_id), state: 'active' },
        ...{ created_at: now, wrapped_at: now, retired_at: null, destroyed_at: null, event_id: null },
      }
    } finally {
      key.fill(0)
    }
  }

  async function rewrap(tenant: Tenant, row: ContentKeyRow, choice: KeyChoice): Promise<ContentKeyRow> {
    if (row.wrapped === null) throw new Error(`the content key ${row.key_id} was destroyed`)
    const former = providerNamed(providers, row.provider)
    const key = await former.unwrap(row.key_ref, row.wrapped, { tenant: tenant.slug, keyId: row.key_id })
    try {
      const again = await wrapped(choice, key, tenant.slug, row.key_id)
      return { ...row, ...choice, wrapped: again, wrapped_at: formatTimestamp(Date.now()) }
    } finally {
      key.fill(0)
    }
  }

  async function rewrapAll(tenant: Tenant, rows: readonly ContentKeyRow[], choice: KeyChoice) {
    const made: ContentKeyRow[] = []
    for (const row of live(rows)) made.push(await rewrap(tenant, row, choice))
    return made
  }

  /** Stores prepared keys if the keys are unchanged since. */
  async function put(tx: TenantTx, { basis, fresh, rewrapped }: Prepared): Promise<void> {
    await takeContentKeysLock(tx)
    if (!isUnchanged(await contentKeys(tx), basis)) throw changedMeanwhile()
    for (const row of rewrapped) await putWrapped(tx, row)
    if (fresh) {
      await requireStillThere(tx, fresh)
      await retireActiveKey(tx, fresh.created_at)
      await insertContentKey(tx, fresh)
    }
    tx.afterCommit(() => deps.contentKeys.changed(tx.tenantId))
  }

  /** Throws if the Hub's own keyring lost the customer key after it wrapped this row. */
  async function requireStillThere(tx: TenantTx, row: ContentKeyRow): Promise<void> {
    const provider = providerNamed(providers, row.provider)
    if (provider.destroyKeysOf === undefined) return
    try {
      const key = await provider.unwrap(row.key_ref, row.wrapped!, { tenant: tx.tenantId, keyId: row.key_id })
      key.fill(0)
    } catch {
      throw changedMeanwhile()
    }
  }

  return {
    async prepare(tenant, choice): Promise<Prepared | undefined> {
      const basis = await readRows(tenant)
      const active = activeOf(basis)
      if (active === undefined && choice === undefined) {
        const detail = 'is required: content of a tenant in Mode B is encrypted with its own key'
        throw validationFailed([{ pointer: '/cmek', detail }])
      }
      if (choice === undefined || (active && isSame(active, choice))) return undefined
      requireChoosable(tenant, choice)
      try {
        return active
          ? { choice, basis, fresh: undefined, rewrapped: await rewrapAll(tenant, basis, choice) }
          : { choice, basis, fresh: await freshKey(tenant, choice), rewrapped: [] }
      } catch (error) {
        throw asRefusal(error)
      }
    },

    async store(tx, caller, given) {
      const prepared = given as Prepared
      const { choice, basis, fresh, rewrapped } = prepared
      await put(tx, prepared)
      const active = activeOf(basis)
      const subject = `tenant:${tx.tenantId}`
      await governance.append(
        tx,
        caller.tenant,
        fresh
          ? { kind: 'cmek.key_created', subject, details: { ...choice, key_id: fresh.key_id }, actor: caller }
          : {
              kind: 'tenant.config_changed',
              subject,
              details: {
                change: 'cmek',
                before: { ...choiceOf(active!) },
                after: { ...choice },
                rewrapped_keys: rewrapped.length,
              },
              actor: caller,
            },
      )
    },

    state: async (tx) => stateOf(await contentKeys(tx)),

    async rotate(caller) {
      const { tenant } = caller
      const basis = await readRows(tenant)
      const active = activeOf(basis)
      if (active === undefined) throw withoutCustomerKey(tenant)
      const choice = choiceOf(active)
      let prepared: Prepared
      try {
        const rewrapped = await rewrapAll(tenant, basis, choice)
        prepared = { choice, basis, fresh: await freshKey(tenant, choice), rewrapped }
      } catch (error) {
        throw asUnavailable(error)
      }
      return database.withTenant(tenant.slug, async (tx) => {
        await put(tx, prepared)
        await governance.append(tx, tenant, {
          kind: 'cmek.key_rotated',
          subject: `tenant:${tenant.slug}`,
          details: {
            ...choice,
            key_id: prepared.fresh!.key_id,
            former_key_id: active.key_id,
            rewrapped_keys: prepared.rewrapped.length,
          },
          actor: caller,
        })
        return stateOf(await contentKeys(tx))!
      })
    },
  }
}

const setUpBy: Record<KeyChoice['provider'], string> = {
  local: 'HUB_KEYRING_DIR says where it is',
  'aws-kms': 'AWS_REGION and credentials of AWS',
  vault: 'HUB_VAULT_ADDR and HUB_VAULT_TOKEN do that',
}

/** The same message for a key of another tenant and for a key that does not exist. */
const noSuchKey = 'is not the name of a key that this tenant can use; the operator allows keys (docs/operator.md)'

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

/** Translates the error about a key that the caller named. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof KeyProviderError) || error.isAway) return asUnavailable(error)
  const detail = error.isUnknown ? noSuchKey : `cannot be used: ${error.message}`
  return validationFailed([{ pointer: '/cmek/key_ref', detail }])
}
