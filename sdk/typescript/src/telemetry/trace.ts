import { HubError } from '../hub-error.ts'
import type { TelemetryEvent } from '../types.ts'

/** The members of an event that {@link traced} measures, or that become known during the call. */
type Measured = 'ts' | 'success' | 'latency_ms' | 'error_code'
type LateMember = 'tokens_in' | 'tokens_out' | 'cost_usd_estimate'

/** The members of an event that are known before the call. */
export type TracedEvent = Omit<TelemetryEvent, Measured | LateMember> & Partial<Pick<TelemetryEvent, LateMember>>

/** Adds members to the event of the call in progress. */
export interface CallTrace {
  /** Sets members that became known during the call. */
  set(members: Partial<Omit<TelemetryEvent, Measured>>): void
}

const latencyMsMax = 599_999

/**
 * Runs a call and tracks one event about it: the time, the latency, and whether it threw. Tokens and costs are 0 unless
 * they are set. Returns and throws what the call does; failures of `track` never reach the caller.
 */
export async function traced<Result>(
  known: TracedEvent,
  call: (trace: CallTrace) => Result | Promise<Result>,
  track: (event: TelemetryEvent) => void,
): Promise<Result> {
  const members: Partial<TelemetryEvent> = { tokens_in: 0, tokens_out: 0, cost_usd_estimate: 0, ...known }
  const ts = new Date().toISOString()
  const startedMs = performance.now()
  const end = (outcome: Pick<TelemetryEvent, 'success' | 'error_code'>) => {
    const latencyMs = Math.round(performance.now() - startedMs)
    const latency_ms = Math.min(Math.max(latencyMs, 1), latencyMsMax)
    track({ ...members, ts, latency_ms, ...outcome } as TelemetryEvent)
  }
  try {
    const result = await call({ set: (more) => void Object.assign(members, more) })
    end({ success: true })
    return result
  } catch (error) {
    end({ success: false, error_code: errorCodeOf(error) })
    throw error
  }
}

/** Returns the code of an error, else its name, as far as the Hub takes it. */
function errorCodeOf(error: unknown): string {
  if (error instanceof HubError) return error.slug
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const text = [code, name].find((each) => typeof each === 'string' && each !== '') ?? 'error'
  return String(text)
    .replace(/[^A-Za-z0-9_.:-]/g, '_')
    .slice(0, 128)
}
