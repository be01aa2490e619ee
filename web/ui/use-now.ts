import { useSyncExternalStore } from 'react'

/** How old it may be, in milliseconds. */
export const everyMs = 20_000
let now = Date.now()
let timer: number | undefined
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // While nobody asked the clock stood still.
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

/** The time, some seconds coarse: one clock for all that say "2 minutes ago", so that they turn together. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
