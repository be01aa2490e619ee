import { microsOfUsd } from '../../../contract/money.ts'
import { exactMs } from '../../../contract/timestamp.ts'
import { latencyBinMax, latencyBinOf } from './rollups/latency-sketch.ts'
import type { TelemetryEvent } from './telemetry-schemas.ts'

/** Members of a canonical event. `ts` is in UTC with six fractional digits, so that texts compare as times do. */
type EventMembers = Omit<TelemetryEvent, 'metadata' | 'related_records' | 'tokens_total_reported'> & {
  created_at: string
  cost_usd_computed?: number
  /** The source of the price at ingest. */
  price_source?: string
}

/** A stored event, with its costs in micro-dollars. */
export interface ReadEvent extends EventMembers {
  /** `ts` in whole milliseconds. */
  epochMs: number
  /** `ts` in milliseconds with a fraction: the time for looking up prices. */
  exactMs: number
  estimateMicros: number
  /** The result of the last pricing; undefined if the event has no price. */
  computedMicros: number | undefined
}

/**
 * Parses an event from its canonical text and its last repricing. Returns undefined for text that is no event, because
 * somebody changed it in the database.
 */
export function readStoredEvent(stored: {
  canonical: string
  /** Whether it was repriced. */
  rated: boolean
  /** The result; null without a price. */
  ratedMicros: number | null
}): ReadEvent | undefined {
  try {
    const event = JSON.parse(stored.canonical) as EventMembers
    const epochMs = Date.parse(event.ts)
    if (!isWhole(event, epochMs)) return undefined
    const frozen = event.cost_usd_computed
    // No client set it, so it may exceed the limit for clients; it has at most six decimals.
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

/** Returns the error code by which an event counts; undefined if it succeeded. */
export function errorCodeOf({ success, error_code }: Pick<ReadEvent, 'success' | 'error_code'>): string | undefined {
  return success ? undefined : (error_code ?? undefined)
}

function isWhole(event: EventMembers, epochMs: number): boolean {
  const { skill_id, archetype_id, user_id, llm_platform, llm_model = 'none', ts, tokens_in, tokens_out } = event
  const names = [skill_id, archetype_id, user_id, llm_platform, llm_model, ts]
  // Every failed event has a code, which is not empty.
  const hasOutcome = event.success || (typeof event.error_code === 'string' && event.error_code !== '')
  const bin = latencyBinOf(event.latency_ms)
  return (
    hasOutcome &&
    names.every((name) => typeof name === 'string') &&
    [tokens_in, tokens_out, epochMs].every(Number.isSafeInteger) &&
    bin >= 1 &&
    bin <= latencyBinMax
  )
}
