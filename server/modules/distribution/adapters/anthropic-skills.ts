import type { JsonValue } from '../../../../provenance/json.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { PlatformAdapter } from '../platform-adapter-types.ts'

/** The Skills API of Anthropic. */
export function createAnthropicSkills(_outbound: Pick<Outbound, 'fetch' | 'resolvedProblemOf'>): PlatformAdapter {
  return {
    timeoutMs: 120_000,
    publish: async (): Promise<JsonValue> => null,
    test: async () => [],
  }
}
