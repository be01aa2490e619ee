import { microsOfUsd } from '../../../contract/money.ts'
import { exactMs } from './prices/prices-arithmetic.ts'
import { latencyBinMax, latencyBinOf } from './rollups/latency-sketch.ts'

/** Members of a canonical event that the numbers are made of. */
interface EventMembers {
  skill_id: string
  archetype_id: string
  user_id: string
  llm_platform: string
  llm_model?: string
  created_at: string
  /** In UTC with six digits, so that texts compare as times do. */
  ts: string
  success: boolean
  latency_ms: number
  tokens_in: number
  tokens_out: number
  cost_usd_estimate: number
  cost_usd_computed?: number
  /** What the event was rated with when it came in. */
  price_source?: string
}

/** An event as it is stored, with its costs in micro-dollars. */
export interface ReadEvent extends EventMembers {
  /** Of `ts`, in whole milliseconds. */
  epochMs: number
  /** Of `ts`, with the microseconds as a fraction: the time to look prices up by. */
  exactMs: number
  estimateMicros: number
  /** Of the last rating; undefined when the event has no price. */
  computedMicros: number | undefined
}

/**
 * An event of its canonical text and its last rating. Undefined for text that is no event: someone has changed it in
 * the database.
 */
export function readStoredEvent(stored: {
  canonical: string
  /** Whether it was rated again, */
  rated: boolean
  /** and what came of it; null where there was no price. */
  ratedMicros: number | null
}): ReadEvent | undefined {
  try {
    const event = JSON.parse(stored.canonical) as EventMembers
    const epochMs = Date.parse(event.ts)
    if (!isWhole(event, epochMs)) return undefined
    const frozen = event.cost_usd_computed
    // No client set it, so it may pass what a client may send; it has six decimals at most.
    const frozenMicros = frozen === undefined ? undefined : Math.round(frozen * 1_000_000)
    if (!Number.isSafeInteger(frozenMicros ?? 0)) return undefined
    return {
      ...event,
      epochMs,
      exactMs: exactMs({ epochMs, microsOfMs: Number(event.ts.slice(23, 26)) }),
      estimateMicros: microsOfUsd(event.cost_usd_estimate),
      computedMicros: stored.rated ? (stored.ratedMicros ?? undefined) : frozenMicros,
    }
  } catch {
    return undefined
  }
}

function isWhole(event: EventMembers, epochMs: number): boolean {
  const { skill_id, archetype_id, user_id, llm_platform, llm_model = 'none', ts, tokens_in, tokens_out } = event
  const names = [skill_id, archetype_id, user_id, llm_platform, llm_model, ts]
  const bin = latencyBinOf(event.latency_ms)
  return (
    names.every((name) => typeof name === 'string') &&
    [tokens_in, tokens_out, epochMs].every(Number.isSafeInteger) &&
    bin >= 1 &&
    bin <= latencyBinMax
  )
}
