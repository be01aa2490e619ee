import type { Outbound } from '../../outbound/outbound.ts'
import { createAnthropicSkills } from './adapters/anthropic-skills.ts'
import { createHttpPush } from './adapters/http-push.ts'
import { createPull, type SecondsSinceFetch } from './adapters/pull.ts'
import type { ConnectorKind } from './distribution-types.ts'
import type { PlatformAdapter } from './platform-adapter-types.ts'

/** Returns the adapter of a connector. */
export type AdapterOf = (connector: ConnectorKind) => PlatformAdapter

/**
 * Creates the adapters. A connector with credentials of a vendor's own API uses that API; any other address receives
 * the manifest.
 */
export function createPlatformAdapters(deps: { outbound: Outbound; secondsSinceFetch: SecondsSinceFetch }): AdapterOf {
  const httpPush = createHttpPush(deps.outbound)
  const anthropic = createAnthropicSkills(deps.outbound)
  const pull = createPull(deps.secondsSinceFetch)
  return ({ platform, delivery, credentials }) => {
    if (delivery === 'pull') return pull
    return platform === 'claude' && credentials.anthropic_api_key !== undefined ? anthropic : httpPush
  }
}
