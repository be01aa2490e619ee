/** Timestamps are read and written as RFC 3339 text in UTC with six fractional digits. */
export type Timestamp = string
