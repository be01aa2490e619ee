import type { Outbound } from '../../outbound/outbound.ts'
import { createAnthropicSkills } from './adapters/anthropic-skills.ts'
import { createHttpPush } from './adapters/http-push.ts'
import { createPull, type SecondsSinceFetch } from './adapters/pull.ts'
import type { ConnectorKind } from './distribution-types.ts'
import type { PlatformAdapter } from './platform-adapter-types.ts'

/** Which adapter a connector is served by. */
export type AdapterOf = (connector: ConnectorKind) => PlatformAdapter

/** A vendor's own API is spoken where the credentials are those of that API; any other address gets the manifest. */
export function createPlatformAdapters(deps: { outbound: Outbound; secondsSinceFetch: SecondsSinceFetch }): AdapterOf {
  const httpPush = createHttpPush(deps.outbound)
  const anthropic = createAnthropicSkills(deps.outbound)
  const pull = createPull(deps.secondsSinceFetch)
  return ({ platform, delivery, credentials }) => {
    if (delivery === 'pull') return pull
    return platform === 'claude' && credentials.anthropic_api_key !== undefined ? anthropic : httpPush
  }
}
