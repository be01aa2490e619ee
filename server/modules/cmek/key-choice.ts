import { validationFailed } from '../../../contract/domain-error.ts'
import type { Config } from '../../config.ts'
import type { KeyChoice } from './cmek-types.ts'
import { asUnavailable, KeyProviderError } from './key-provider-error.ts'
import type { KeyProviders } from './providers/key-providers.ts'

type KeyNames = Config['keyNames']

const setUpBy: Record<KeyChoice['provider'], string> = {
  local: 'HUB_KEYRING_DIR says where it is',
  'aws-kms': 'AWS_REGION and credentials of AWS',
  vault: 'HUB_VAULT_ADDR and HUB_VAULT_TOKEN do that',
}

/** The same message for a key of another tenant and for a key that does not exist. */
const noSuchKey = 'is not the name of a key that this tenant can use; the operator allows keys (docs/operator.md)'

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
