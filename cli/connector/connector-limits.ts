/** Sizes and times of the forwarder. Each name ends in its unit. */

export const connectorPortDefault = 8090
export const spoolMibDefault = 1024
export const spoolMibMax = 1_000_000
/** Bytes of disk that stay free. Forwarding needs space too; a full disk would never empty. */
export const diskReserveBytes = 32 * 1024 * 1024
/** Seconds until a producer may retry when the spool is full. */
export const fullRetrySeconds = 10
export const sharedSecretLengthMin = 32
/** Events that arrive within this time share a request. */
export const lingerMs = 100
export const requestMs = 60_000
export const retryFirstMs = 500
export const retryMaxSecondsDefault = 60
/**
 * Milliseconds between attempts after a wrong secret or a missing scope. A retry helps only after a correction, and
 * consumes the rate limit.
 */
export const refusedCallerMs = 30_000
/** The maximum `Retry-After` that is obeyed. */
export const retryAfterSecondsMax = 3600
/** The Hub forgets a key 24 hours after it accepted the request. One hour is left for clocks and slow networks. */
export const keyTrustedMs = 23 * 3_600_000
/** Margin around the time of a request within which its records are searched. */
export const searchMarginMs = 15 * 60_000
/** Maximum number of pages that are searched for one batch; beyond that, a person decides. */
export const searchPagesMax = 1000
/** Milliseconds between checks of a waiting forwarder for decisions that a command left in the spool. */
export const decisionsMs = 1000
export const drainMs = 25_000
