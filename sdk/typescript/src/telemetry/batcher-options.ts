import { numberOf } from '../transport.ts'
import type { RejectedEvent } from './batch-sender.ts'
import type { SpoolOptions } from './disk-spool.ts'

/** Options of `telemetry.track`. */
export interface BatcherOptions {
  /** Events of a request, at most 1,000; defaults to 1,000. */
  maxBatchEvents?: number
  /** Bytes of a request, at most 8 MiB; defaults to 1 MiB. */
  maxBatchBytes?: number
  /** Milliseconds until a batch that is not full is sent; defaults to 1,000. */
  flushIntervalMs?: number
  /** Requests at a time; defaults to 2. */
  concurrency?: number
  /** Events that wait in memory; defaults to 10,000. As many calls of `track` may wait for room: the next one rejects. */
  maxBufferedEvents?: number
  /**
   * Bytes that wait in memory, or to be written to the spool; defaults to 16 MiB. Calls of `track` that wait for room may have
   * as many again.
   */
  maxBufferedBytes?: number
  /** If the buffer is full, `track` waits for room (the default), or drops the event and counts it. */
  whenFull?: 'wait' | 'drop'
  /** Milliseconds that `track` waits for room before it rejects; defaults to 30,000. */
  fullWaitMs?: number
  /** Milliseconds that the end of the program waits for unsent events; defaults to 5,000. */
  exitFlushMs?: number
  /** Keeps events on disk until they are sent, so that they survive the process. Node, Bun and Deno only. */
  spool?: SpoolOptions
  /** Receives events that the Hub refused for good. Without it, the first refusal is a warning of the console. */
  onRejected?: (rejected: readonly RejectedEvent[]) => void
  /**
   * Receives errors that are retried, such as lost connections and refused credentials, and faults of the spool. Without it,
   * the first one of each kind is a warning of the console.
   */
  onError?: (error: unknown) => void
}

/** Counts of tracked events. */
export interface BatcherStats {
  /** Events that are buffered and have no answer yet. Without those of earlier processes. */
  queued: number
  accepted: number
  rejected: number
  /** Events that the full buffer refused, and those whose file in the spool another program deleted. */
  dropped: number
  /** The last error of sending; absent once the Hub takes events again. */
  lastError?: unknown
}

const eventBytesMax = 64 * 1024

/** Bounds of a batcher. */
export type Limits = ReturnType<typeof limitsOf>

/** Returns the bounds of the options, or their defaults. Throws TypeError or RangeError. */
export function limitsOf(options: BatcherOptions) {
  const { whenFull = 'wait' } = options
  if (whenFull !== 'wait' && whenFull !== 'drop') throw new TypeError('whenFull must be wait or drop')
  const between = (name: keyof BatcherOptions, initial: number, min: number, max: number) => {
    const value = numberOf(name, Number(options[name] ?? initial))
    if (value < min || value > max) throw new RangeError(`${name} must be from ${min} to ${max}`)
    return value
  }
  return {
    whenFull,
    maxBatchEvents: between('maxBatchEvents', 1000, 1, 1000),
    maxBatchBytes: between('maxBatchBytes', 1 << 20, 1024, 8 << 20),
    flushIntervalMs: between('flushIntervalMs', 1000, 1, 3_600_000),
    concurrency: between('concurrency', 2, 1, 16),
    maxBufferedEvents: between('maxBufferedEvents', 10_000, 1, 1_000_000),
    maxBufferedBytes: between('maxBufferedBytes', 16 << 20, eventBytesMax, 1 << 30),
    fullWaitMs: between('fullWaitMs', 30_000, 0, 3_600_000),
    exitFlushMs: between('exitFlushMs', 5000, 0, 600_000),
  }
}
