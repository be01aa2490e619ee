import type { Inspector } from './inspector.ts'

/**
 * Measures the processor time of the main thread in each turn of the event loop. Unlike the delay of a timer, it
 * excludes the time for which another process had the core.
 */
const script = `globalThis.turns = (() => {
  let longest = 0
  let before = 0
  let running = false
  const nowMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000 }
  const look = () => {
    const now = nowMs()
    longest = Math.max(longest, now - before)
    before = now
    if (running) setImmediate(look)
  }
  return {
    begin() { longest = 0; before = nowMs(); running = true; setImmediate(look) },
    end() { running = false; look(); return longest },
  }
})()`

/** Measures turns of the event loop of another process. */
export interface TurnWatch {
  begin(): Promise<void>
  /** Returns the longest turn since `begin`, in milliseconds of processor time. */
  end(): Promise<number>
}

export async function watchTurns(inspector: Inspector): Promise<TurnWatch> {
  await inspector.evaluate(script)
  return {
    begin: () => inspector.evaluate('globalThis.turns.begin()'),
    end: () => inspector.evaluate<number>('globalThis.turns.end()'),
  }
}
