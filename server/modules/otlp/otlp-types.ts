import type { Attributes } from './inherited-attributes.ts'

export type Signal = 'traces' | 'logs'

/** A span or a log record, with those attributes that the mapping reads. */
export interface OtlpItem {
  /** The name of a span or event. */
  name: string
  /** Hexadecimal digits in lower case; undefined if absent or all zero. */
  traceId: string | undefined
  spanId: string | undefined
  parentSpanId: string | undefined
  /** The start of a span, or the time of a log record, in nanoseconds since 1970; 0 if absent. */
  startNanos: bigint
  endNanos: bigint
  isError: boolean
  /** Attributes of the item, its scope and its resource; the nearest counts. */
  attributes: Attributes
  /** The reason that it cannot be read, for the sender. */
  fault?: string
}

/** The number of items that were rejected, and the reasons. */
export interface ExportResult {
  rejected: number
  /** Empty if nothing was rejected. */
  message: string
}

/** The names of the attributes that are read; no other attribute is decoded. */
export type WantedNames = ReadonlySet<string>
