const quarterMs = 900_000
const minuteMs = 60_000

export interface AlertWindow {
  /** Both in milliseconds. */
  fromMs: number
  toMs: number
}

/**
 * Returns the window: the current quarter of an hour and the quarters before it that complete the minutes. It covers at
 * least the minutes less a quarter of the past, in whole quarters, as the rollups do.
 *
 * @param windowMinutes a multiple of 15
 */
export function alertWindow(nowMs: number, windowMinutes: number): AlertWindow {
  const toMs = (Math.floor(nowMs / quarterMs) + 1) * quarterMs
  return { fromMs: toMs - windowMinutes * minuteMs, toMs }
}
