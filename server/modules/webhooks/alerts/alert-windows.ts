const quarterMs = 900_000
const minuteMs = 60_000

export interface AlertWindow {
  /** Both in milliseconds. */
  fromMs: number
  toMs: number
}

/**
 * The quarter of an hour that is running, and those before it that make up the minutes with it. So it shows at least
 * a quarter less a moment of the past, and figures of whole quarters, which the rollups have.
 *
 * @param windowMinutes a multiple of 15
 */
export function alertWindow(nowMs: number, windowMinutes: number): AlertWindow {
  const toMs = (Math.floor(nowMs / quarterMs) + 1) * quarterMs
  return { fromMs: toMs - windowMinutes * minuteMs, toMs }
}
