import { randomBytes } from 'node:crypto'
import { validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Config } from '../../config.ts'
import type { KeyChoice, KeyContext } from './cmek-types.ts'
import { contentKeyBytes, newKeyId } from './content-cipher.ts'
import type { ContentKeyRow } from './content-keys-store.ts'
import { asUnavailable, KeyProviderError } from './key-provider-error.ts'
import { live } from './key-state.ts'
import { type KeyProviders, providerNamed } from './providers/key-providers.ts'

/** Creates a content key, wrapped under the chosen customer key. */
export async function freshKey(providers: KeyProviders, tenant: string, choice: KeyChoice): Promise<ContentKeyRow> {
  const key_id = newKeyId()
  const key = randomBytes(contentKeyBytes)
  try {
    const now = formatTimestamp(Date.now())
    return {
      ...{ key_id, ...choice, wrapped: await wrap(providers, choice, key, { tenant, keyId: key_id }), state: 'active' },
      ...{ created_at: now, wrapped_at: now, retired_at: null, destroyed_at: null, event_id: null },
    }
  } finally {
    key.fill(0)
  }
}

/** Returns the keys that still decrypt content, wrapped again under the chosen customer key. */
export async function rewrapAll(
  providers: KeyProviders,
  tenant: string,
  rows: readonly ContentKeyRow[],
  choice: KeyChoice,
): Promise<ContentKeyRow[]> {
  const made: ContentKeyRow[] = []
  for (const row of live(rows)) {
    const key = await unwrap(providers, tenant, row)
    try {
      const wrapped = await wrap(providers, choice, key, { tenant, keyId: row.key_id })
      made.push({ ...row, ...choice, wrapped, wrapped_at: formatTimestamp(Date.now()) })
    } finally {
      key.fill(0)
    }
  }
  return made
}

/** Returns whether the Hub's own keyring still has the customer key of this row; true for all other providers. */
export async function isStillThere(providers: KeyProviders, tenant: string, row: ContentKeyRow): Promise<boolean> {
  if (providerNamed(providers, row.provider).destroyKeysOf === undefined) return true
  try {
    const key = await unwrap(providers, tenant, row)
    key.fill(0)
    return true
  } catch {
    return false
  }
}

async function unwrap(providers: KeyProviders, tenant: string, row: ContentKeyRow): Promise<Buffer> {
  if (row.wrapped === null) throw new Error(`the content key ${row.key_id} was destroyed`)
  return providerNamed(providers, row.provider).unwrap(row.key_ref, row.wrapped, { tenant, keyId: row.key_id })
}

/** Wraps and unwraps a key: a customer key that cannot do both would lose the content encrypted under it. */
async function wrap(
  providers: KeyProviders,
  { provider: name, key_ref }: KeyChoice,
  key: Buffer,
  context: KeyContext,
): Promise<Buffer> {
  const provider = providerNamed(providers, name)
  const made = await provider.wrap(key_ref, key, context)
  const back = await provider.unwrap(key_ref, made, context)
  const isSame = back.equals(key)
  back.fill(0)
  if (!isSame) throw new KeyProviderError('The key did not decrypt what it encrypted.', { isAway: false })
  return made
}

type KeyNames = Config['keyNames']

const setUpBy: Record<KeyChoice['provider'], string> = {
  local: 'HUB_KEYRING_DIR says where it is',
  'aws-kms': 'AWS_REGION and credentials of AWS',
  vault: 'HUB_VAULT_ADDR and HUB_VAULT_TOKEN do that',
}

/** The same message for a key of another tenant and for a key that does not exist. */
const noSuchKey = 'is not the name of a key that this tenant can use; the operator allows keys (docs/mode-b.md)'

/**
 * Throws `validation-failed` for a key that the tenant may not use. Sends no request to its provider, so that nothing
 * about foreign keys is revealed.
 */
export function requireChoosable(
  { providers, keyNames }: { providers: KeyProviders; keyNames: KeyNames },
  tenant: string,
  choice: KeyChoice,
): void {
  const provider = providers[choice.provider]
  if (provider === undefined) {
    const detail = `is not configured in this Hub: ${setUpBy[choice.provider]}`
    throw validationFailed([{ pointer: '/cmek/provider', detail }])
  }
  const problem = provider.problemOf(choice.key_ref) ?? (mayUseKey(keyNames, tenant, choice) ? undefined : noSuchKey)
  if (problem !== undefined) throw validationFailed([{ pointer: '/cmek/key_ref', detail: problem }])
}

/** Translates an error of a provider about the key that the caller chose. */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof KeyProviderError) || error.isAway) return asUnavailable(error)
  const detail = error.isUnknown ? noSuchKey : `cannot be used: ${error.message}`
  return validationFailed([{ pointer: '/cmek/key_ref', detail }])
}

/**
 * Returns whether a tenant may use a key. The Hub uses the same credentials for all keys, so only the operator can
 * assign them to tenants. The local keyring has a folder for each tenant.
 */
export function mayUseKey(names: KeyNames, tenant: string, { provider, key_ref }: KeyChoice): boolean {
  if (provider === 'local') return true
  return names[provider].some((rule) => covers(rule, tenant, key_ref))
}

function covers(rule: KeyNames['vault'][number], tenant: string, keyRef: string): boolean {
  if (rule.tenant !== undefined && rule.tenant !== tenant) return false
  const literal = (text: string) => text.replaceAll('{tenant}', tenant).replace(/[.]/g, '\\.')
  return new RegExp(`^${rule.pattern.split('*').map(literal).join('[^/:]*')}$`).test(keyRef)
}
