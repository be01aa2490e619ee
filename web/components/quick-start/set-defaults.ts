import { hub } from '../../api/api-client.ts'
import { withDefaults } from './otlp-defaults.ts'
import type { Sample } from './use-sample.ts'

export const mappingPath = '/api/v1/telemetry/otlp-mapping'

/** Sets the defaults that a tenant lacks: Claude Code often names no skill, and its calls would be rejected. */
export async function setDefaults(sample: Sample): Promise<void> {
  const { data: mapping } = await hub.GET(mappingPath)
  const body = mapping && withDefaults(mapping, sample)
  if (body) await hub.PUT(mappingPath, { body })
}
