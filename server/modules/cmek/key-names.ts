import type { Config } from '../../config.ts'
import type { KeyChoice } from './cmek-types.ts'

type KeyNames = Config['keyNames']
type KeyNameRule = KeyNames['vault'][number]

/**
 * Returns whether a tenant may use a key. The Hub uses the same credentials for all keys, so only the operator can
 * assign them to tenants. The local keyring has a folder for each tenant.
 */
export function mayUseKey(names: KeyNames, tenant: string, { provider, key_ref }: KeyChoice): boolean {
  if (provider === 'local') return true
  return names[provider].some((rule) => covers(rule, tenant, key_ref))
}

function covers(rule: KeyNameRule, tenant: string, keyRef: string): boolean {
  if (rule.tenant !== undefined && rule.tenant !== tenant) return false
  const literal = (text: string) => text.replaceAll('{tenant}', tenant).replace(/[.]/g, '\\.')
  return new RegExp(`^${rule.pattern.split('*').map(literal).join('[^/:]*')}$`).test(keyRef)
}
