// Realistic telemetry events of an organisation: all different, and the same in every run. A user has one archetype and
// one platform; some skills, users and models are used far more than others.

export const skillIds = Array.from({ length: 12 }, (_, at) => `skill-${at}`)
export const archetypeIds = Array.from({ length: 6 }, (_, at) => `archetype-${at}`)
export const skillVersion = '1.4.2'

const userCount = 500
const platforms = [
  ['claude', ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-1']],
  ['chatgpt', ['gpt-4o', 'gpt-4o-mini', 'gpt-5']],
  ['gemini', ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite']],
  ['copilot', ['gpt-4o-mini', 'gpt-4o', 'gpt-5']],
] as const

/**
 * Returns a well-mixed 32-bit number for each pair (after Murmur's finalizer): an event follows from its index alone.
 */
function mixed(at: number, salt: number): number {
  let word = Math.imul(at + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return (word ^ (word >>> 16)) >>> 0
}

/** Returns 0 ≤ n < count, small numbers far more often. */
function skewed(at: number, salt: number, count: number): number {
  return Math.floor(count * (mixed(at, salt) / 2 ** 32) ** 2)
}

/**
 * Returns an event.
 * @param at the event's index, any whole number
 * @param tsMs the event's time, in milliseconds since 1970
 */
export function sampleEvent(at: number, tsMs: number): Record<string, unknown> {
  const user = skewed(at, 1, userCount)
  const [platform, models] = platforms[user % platforms.length]!
  const tokensIn = 200 + (mixed(at, 2) % 4000)
  const tokensOut = 50 + (mixed(at, 3) % 900)
  const success = mixed(at, 4) % 40 !== 0
  return {
    skill_id: skillIds[(user + skewed(at, 5, skillIds.length)) % skillIds.length],
    skill_version: skillVersion,
    archetype_id: archetypeIds[user % archetypeIds.length],
    user_id: `user:person-${user}@example.com`,
    llm_platform: platform,
    llm_model: models[skewed(at, 6, models.length)],
    ts: new Date(tsMs).toISOString(),
    success,
    latency_ms: 300 + Math.floor(9000 * (mixed(at, 7) / 2 ** 32) ** 3),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    cost_usd_estimate: Number(((tokensIn * 3 + tokensOut * 15) / 1e6).toFixed(6)),
    ...(success ? {} : { error_code: 'timeout' }),
  }
}

/** Returns bodies of single requests: events of the last minute. */
export function sampleSingles(count: number): string[] {
  const nowMs = Date.now()
  return Array.from({ length: count }, (_, at) => JSON.stringify(sampleEvent(at, nowMs - (at % 60_000))))
}

/** Returns bodies of batch requests: each holds events of one minute. */
export function sampleBatches(count: number, eventsPerBatch: number): Buffer[] {
  const startMs = Date.now() - 60_000
  return Array.from({ length: count }, (_, batch) => {
    const events = Array.from({ length: eventsPerBatch }, (_, at) =>
      sampleEvent(batch * eventsPerBatch + at, startMs + Math.floor((60_000 * at) / eventsPerBatch)),
    )
    return Buffer.from(JSON.stringify({ events }))
  })
}
