/** Sizes and times of the forwarder. Units stand last in each name. */

export const connectorPortDefault = 8090
export const spoolMibDefault = 1024
export const spoolMibMax = 1_000_000
/** On the disk this much is left alone: forwarding needs room too, or a full disk would never empty. */
export const diskReserveBytes = 32 * 1024 * 1024
/** What a producer is told to wait for when the spool is full. */
export const fullRetrySeconds = 10
export const sharedSecretLengthMin = 32
/** Events that arrive within it share a request. */
export const lingerMs = 100
export const requestMs = 60_000
export const retryFirstMs = 500
export const retryMaxSecondsDefault = 60
/** A wrong secret, a missing scope: asking again helps only once somebody has mended it, and uses up the limits. */
export const refusedCallerMs = 30_000
/** A `Retry-After` beyond it is not believed. */
export const retryAfterSecondsMax = 3600
/** The Hub forgets a key 24 hours after it took the request; an hour is left for clocks and slow networks. */
export const keyTrustedMs = 23 * 3_600_000
/** Around the time in which a request was on its way, records of it are looked for. */
export const searchMarginMs = 15 * 60_000
/** Pages of records that are looked through for one batch; beyond, a person decides. */
export const searchPagesMax = 1000
/** How often a waiting forwarder looks for decisions that a command has left in the spool. */
export const decisionsMs = 1000
export const drainMs = 25_000
