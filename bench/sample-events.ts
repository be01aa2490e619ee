/** Events of some skills, archetypes, users and models, all different, the same in every run. */

export const skillIds = Array.from({ length: 12 }, (_, at) => `skill-${at}`)
export const archetypeIds = Array.from({ length: 6 }, (_, at) => `archetype-${at}`)

const models = [
  ['claude', 'claude-sonnet-4-5'],
  ['chatgpt', 'gpt-4o'],
  ['gemini', 'gemini-2.5-pro'],
  ['copilot', 'gpt-4o-mini'],
] as const

/** @param startMs time of the first event; each is a millisecond after the one before */
export function sampleEvent(at: number, startMs: number): Record<string, unknown> {
  const [platform, model] = models[at % models.length]!
  const tokensIn = 200 + ((at * 7919) % 4000)
  const tokensOut = 50 + ((at * 104_729) % 900)
  const success = at % 40 !== 0
  return {
    skill_id: skillIds[(at * 31) % skillIds.length],
    skill_version: '1.4.2',
    archetype_id: archetypeIds[(at * 17) % archetypeIds.length],
    user_id: `user:person-${(at * 613) % 500}@example.com`,
    llm_platform: platform,
    llm_model: model,
    ts: new Date(startMs + at).toISOString(),
    success,
    latency_ms: 300 + ((at * 193) % 9000),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    cost_usd_estimate: Number(((tokensIn * 3 + tokensOut * 15) / 1e6).toFixed(6)),
    ...(success ? {} : { error_code: 'timeout' }),
  }
}

export function sampleBatches(count: number, eventsPerBatch: number): Buffer[] {
  const startMs = Date.now() - count * eventsPerBatch
  return Array.from({ length: count }, (_, batch) => {
    const events = Array.from({ length: eventsPerBatch }, (_, at) => sampleEvent(batch * eventsPerBatch + at, startMs))
    return Buffer.from(JSON.stringify({ events }))
  })
}
