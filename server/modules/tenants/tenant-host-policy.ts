import type { TenantMode } from '../../../contract/literals.ts'

export interface TenantHostPolicy {
  /** Returns the common address. */
  baseUrl: () => string
  /** Whether every address must be https; true outside development. */
  httpsOnly: boolean
}

/** Returns the normalized address of a Mode C tenant, or its problem. */
export function readTenantHost(
  text: string,
  mode: TenantMode,
  rule: TenantHostPolicy,
): { address: string } | { problem: string } {
  if (mode !== 'C') {
    return { problem: 'is for Mode C tenants only; Modes A and B are served at the common address' }
  }
  const address = originOf(text)
  if (!address) {
    return { problem: 'must be an address of scheme, host and port only, such as https://hub.customer.example' }
  }
  if (rule.httpsOnly && !address.startsWith('https:')) return { problem: 'must be https outside development' }
  if (new URL(address).host === new URL(rule.baseUrl()).host) {
    return { problem: 'is the common address of the service; omit it, or use an address for this tenant only' }
  }
  return { address }
}

function originOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const bare = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  return bare ? url.origin : undefined
}
