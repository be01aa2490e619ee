import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { errorCodes, people, platforms, skills } from './cast.ts'

const traceFile = new URL('./data/azure-llm-inference-conv-2023.csv', import.meta.url)

/** One row of the trace. */
export interface Invocation {
  row: number
  /** Microseconds since the first row. */
  offsetMicros: number
  tokensIn: number
  tokensOut: number
}

/** A telemetry event in the names of interface section 2.3, with the row it was derived from. */
export interface DemoEvent {
  skill_id: string
  skill_version: string
  archetype_id: string
  user_id: string
  llm_platform: string
  llm_model?: string
  ts: string
  success: boolean
  latency_ms: number
  tokens_in: number
  tokens_out: number
  tokens_total_reported: number
  cost_usd_estimate: number
  error_code?: string
  metadata: { demo_row: number }
}

/** Reads the whole trace, in order of time. */
export async function readTrace(): Promise<Invocation[]> {
  const rows = parse(await readFile(traceFile, 'utf8'), { columns: true, trim: true }) as {
    TIMESTAMP: string
    ContextTokens: string
    GeneratedTokens: string
  }[]
  const first = microsOf(rows[0]!.TIMESTAMP)
  return rows.map((row, index) => ({
    row: index,
    offsetMicros: microsOf(row.TIMESTAMP) - first,
    tokensIn: Number(row.ContextTokens),
    tokensOut: Number(row.GeneratedTokens),
  }))
}

/** `2023-11-16 18:15:46.6805900` in UTC → microseconds since the epoch; the last digit (100 ns) is cut. */
function microsOf(timestamp: string): number {
  const [seconds = '', fraction = ''] = timestamp.split('.')
  return Date.parse(`${seconds.replace(' ', 'T')}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

/**
 * Derives what the trace does not say. The same row always gives the same event, up to its time.
 * @param startMicros time of the first row, in microseconds since the epoch
 */
export function eventOf(invocation: Invocation, startMicros: number): DemoEvent {
  const random = numbersOf(invocation.row)
  const skill = pick(skills, random())
  const colleagues = people.filter((person) => skill.archetypes.includes(person.archetypeId))
  // Squared, so that a few people use a skill a lot, as they do.
  const person = colleagues[Math.floor(random() ** 2 * colleagues.length)]!
  const { platform, model, latency, bills } = pick(platforms, random())
  const jitter = 0.8 + 0.4 * random()
  const success = random() >= 0.024
  const billed = (invocation.tokensIn * bills.tokensIn + invocation.tokensOut * bills.tokensOut) / 1e6
  return {
    skill_id: skill.id,
    skill_version: skill.version,
    archetype_id: person.archetypeId,
    user_id: person.userId,
    llm_platform: platform,
    ...(model === undefined ? {} : { llm_model: model }),
    ts: timeOf(startMicros + invocation.offsetMicros),
    success,
    latency_ms: Math.max(
      1,
      Math.round(
        (latency.fixed + latency.perTokenIn * invocation.tokensIn + latency.perTokenOut * invocation.tokensOut) *
          jitter,
      ),
    ),
    tokens_in: invocation.tokensIn,
    tokens_out: invocation.tokensOut,
    tokens_total_reported: invocation.tokensIn + invocation.tokensOut,
    // Bills are a little off the list price, or there would be nothing to reconcile.
    cost_usd_estimate: Number((billed * (0.97 + 0.06 * random())).toFixed(6)),
    ...(success ? {} : { error_code: errorCodes[Math.floor(random() * errorCodes.length)]! }),
    metadata: { demo_row: invocation.row },
  }
}

/** Microseconds since the epoch → RFC 3339 in UTC with six fractional digits. */
export function timeOf(micros: number): string {
  const milliseconds = Math.floor(micros / 1000)
  return new Date(milliseconds).toISOString().replace('Z', `${String(micros - milliseconds * 1000).padStart(3, '0')}Z`)
}

/** A stream of numbers in [0, 1) that depends on the row alone (mulberry32). */
function numbersOf(row: number): () => number {
  let state = (row + 1) * 0x9e3779b1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function pick<T extends { weight: number }>(choices: readonly T[], chance: number): T {
  let rest = chance * choices.reduce((sum, choice) => sum + choice.weight, 0)
  for (const choice of choices) {
    rest -= choice.weight
    if (rest < 0) return choice
  }
  return choices.at(-1)!
}
