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
