/** One reading of the clock, as an id and as a time. */
export interface RecordMoment {
  /** UUIDv7 (RFC 9562, section 5.7) that carries the microseconds too. */
  recordId: string
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
  /** Microseconds since the epoch. */
  micros: number
}

/** Gives every record its own microsecond, so that in one process id order is time order. */
export interface RecordClock {
  next(): RecordMoment
}

/** Where the time comes from; both in milliseconds. */
export interface TimeSource {
  /** Time since the epoch; may step. */
  wallMs(): number
  /** Time since an arbitrary point, with a fraction; never steps. */
  monotonicMs(): number
}
