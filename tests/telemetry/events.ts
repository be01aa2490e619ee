import type { JsonValue } from '../../provenance/index.ts'

/** A telemetry event that every check takes, for a tenant with archetype `analyst` and skill `sum-up`. */
export function event(changes: Record<string, JsonValue | undefined> = {}): Record<string, JsonValue> {
  const made: Record<string, JsonValue | undefined> = {
    skill_id: 'sum-up',
    skill_version: '1.0.0',
    archetype_id: 'analyst',
    user_id: 'user:kim@example.com',
    llm_platform: 'claude',
    llm_model: 'claude-3-haiku-20240307',
    ts: '2026-01-05T09:30:00.123456Z',
    success: true,
    latency_ms: 1200,
    tokens_in: 1000,
    tokens_out: 200,
    cost_usd_estimate: 0.0005,
    ...changes,
  }
  return JSON.parse(JSON.stringify(made)) as Record<string, JsonValue>
}
