/**
 * Returns the seconds that a receiver requests in its header, given as seconds or date (RFC 9110, section 10.2.3): at
 * least 1 and at most `secondsMax`. Undefined if the header is missing or unreadable.
 */
export function retryAfterSeconds(header: string | null | undefined, secondsMax: number): number | undefined {
  const value = header?.trim()
  if (!value) return undefined
  if (/^[-+\d.]+$/.test(value) && !/^\d{1,9}$/.test(value)) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), secondsMax)
}
