/** The parts of Node's process, and of a page, that signal the end of the program. */
interface Platform {
  process?: {
    on?(event: 'beforeExit', listener: () => void): unknown
    off?(event: 'beforeExit', listener: () => void): unknown
  }
  addEventListener?(event: 'pagehide', listener: () => void): void
  removeEventListener?(event: 'pagehide', listener: () => void): void
}

/**
 * Calls `flush` when the program has nothing else to do, or `leave` when the page is left. `flush` returns false if
 * waiting longer is of no use: then it is not called again.
 *
 * @returns a function that cancels it
 */
export function onProcessExit(flush: () => Promise<boolean>, leave: () => void): () => void {
  const platform = globalThis as Platform
  let isOver = false
  const end = () => {
    if (isOver) return
    void flush()
      .catch(() => false)
      .then((isDone) => {
        isOver = !isDone
      })
  }
  if (platform.process?.on) platform.process.on('beforeExit', end)
  else platform.addEventListener?.('pagehide', leave)
  return () => {
    if (platform.process?.off) platform.process.off('beforeExit', end)
    else platform.removeEventListener?.('pagehide', leave)
  }
}
