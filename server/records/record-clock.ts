import { randomFillSync } from 'node:crypto'
import { type PointedError, validationFailed } from '../../contract/domain-error.ts'
import { formatTimestamp, parseTimestamp } from '../../contract/timestamp.ts'

/** One reading of the clock, as an id and as a time. */
export interface RecordMoment {
  /** A UUIDv7 (RFC 9562, section 5.7) that also contains the microseconds. */
  recordId: string
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
  /** Microseconds since the epoch. */
  micros: number
}

/** Assigns each record its own microsecond, so that within one process id order is time order. */
export interface RecordClock {
  next(): RecordMoment
}

/** Provides the time; both in milliseconds. */
export interface TimeSource {
  /** Time since the epoch; may step. */
  wallMs(): number
  /** Time since an arbitrary point, with a fraction; never steps. */
  monotonicMs(): number
}

const systemTime: TimeSource = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }

/** Maximum drift of the fine clock from the wall clock in milliseconds, before it is set again. */
const driftMsMax = 2

/**
 * Creates a clock that never repeats a microsecond and never goes back. If the wall clock is set back, ids continue one
 * microsecond apart until it has caught up.
 */
export function createRecordClock(time: TimeSource = systemTime): RecordClock {
  const random = randomSource()
  let lastMicros = 0
  // The wall clock has a resolution of one millisecond; the monotonic clock supplies the lower digits.
  let originMs = time.wallMs() - time.monotonicMs()

  function readMicros(): number {
    const monotonicMs = time.monotonicMs()
    const wallMs = time.wallMs()
    if (Math.abs(originMs + monotonicMs - wallMs) > driftMsMax) originMs = wallMs - monotonicMs
    return Math.floor((originMs + monotonicMs) * 1000)
  }

  return {
    next() {
      const micros = Math.max(readMicros(), lastMicros + 1)
      lastMicros = micros
      const epochMs = Math.floor(micros / 1000)
      const microsOfMs = micros % 1000
      return {
        recordId: `${timePart(epochMs, microsOfMs)}-${random()}`,
        createdAt: formatTimestamp(epochMs, microsOfMs),
        micros,
      }
    },
  }
}

/**
 * Returns the smallest record id of a time. A record was created at or after the time if, and only if, its id is not
 * below. Times before the epoch return the smallest id of all.
 */
export function recordIdFloor(epochMs: number, microsOfMs: number): string {
  if (epochMs < 0) return `${timePart(0, 0)}-8000-000000000000`
  return `${timePart(epochMs, microsOfMs)}-8000-000000000000`
}

/** Returns the {@link recordIdFloor} of a timestamp. Throws for any other text. */
export function recordIdFloorOf(time: string): string {
  const parsed = parseTimestamp(time)
  if (parsed === undefined) throw new Error(`not a timestamp: ${time}`)
  return recordIdFloor(parsed.epochMs, parsed.microsOfMs)
}

/**
 * Returns the time in an id, which is `created_at` of its record: RFC 3339, UTC, six fractional digits. For an id that
 * is not a UUIDv7 the result is an arbitrary time, because somebody may have edited the id.
 */
export function timeOfRecordId(recordId: string): string {
  const epochMs = Number.parseInt(recordId.slice(0, 8) + recordId.slice(9, 13), 16)
  const fraction = Number.parseInt(recordId.slice(15, 18), 16)
  // Rounding down to the fraction is lossless: it has 4,096 values for 1,000 microseconds.
  return formatTimestamp(Math.min(epochMs, lastEpochMs), Math.min(Math.ceil((fraction * 1000) / 4096), 999))
}

const lastEpochMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Returns unix_ts_ms, version and rand_a. rand_a is the fraction of the millisecond (RFC 9562, section 6.2, method 3).
 */
function timePart(epochMs: number, microsOfMs: number): string {
  const ms = epochMs.toString(16).padStart(12, '0')
  const fraction = Math.floor((microsOfMs * 4096) / 1000)
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${fraction.toString(16).padStart(3, '0')}`
}

/** Returns variant and rand_b, `vxxx-xxxxxxxxxxxx`, from a pool: one call for random bytes per 512 ids. */
function randomSource(): () => string {
  const pool = Buffer.alloc(4096)
  let offset = pool.length
  return () => {
    if (offset === pool.length) {
      randomFillSync(pool)
      offset = 0
    }
    pool[offset] = (pool[offset]! & 0x3f) | 0x80
    const hex = pool.toString('hex', offset, offset + 8)
    offset += 8
    return `${hex.slice(0, 4)}-${hex.slice(4)}`
  }
}

/**
 * Returns the ids that bound records by their time of creation; undefined for an absent bound.
 *
 * @throws DomainError `validation-failed` with every member that is no RFC 3339 timestamp
 */
export function creationBounds(query: { created_at__gte?: string | undefined; created_at__lt?: string | undefined }) {
  const errors: PointedError[] = []
  const idBound = (name: 'created_at__gte' | 'created_at__lt') => {
    const text = query[name]
    if (text === undefined) return undefined
    const time = parseTimestamp(text)
    if (time) return recordIdFloor(time.epochMs, time.microsOfMs)
    const detail = 'must be an RFC 3339 timestamp; a `+` is written %2B in a query'
    errors.push({ pointer: `/query/${name}`, detail })
    return undefined
  }
  const [fromId, belowId] = [idBound('created_at__gte'), idBound('created_at__lt')]
  if (errors.length > 0) throw validationFailed(errors)
  return { fromId, belowId }
}
