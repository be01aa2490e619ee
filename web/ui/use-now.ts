import { useSyncExternalStore } from 'react'

/** The resolution of the clock in milliseconds. */
export const everyMs = 20_000
let now = Date.now()
let timer: number | undefined
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // The clock does not run without subscribers.
  if (timer === undefined) now = Date.now()
  timer ??= window.setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, everyMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** Returns the current time at a resolution of some seconds. All relative times share one clock and change together. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
