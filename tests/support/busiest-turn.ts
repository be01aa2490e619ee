import { setInterval as every } from 'node:timers/promises'

const lookEveryMs = 2

/**
 * Returns the most CPU time, in milliseconds, that this thread spent on the work without a turn for anything else. Time
 * that other processes take from it does not count. Compare it with `scaled(…)`.
 */
export async function busiestTurn(work: () => Promise<unknown>): Promise<number> {
  const ended = new AbortController()
  const looking = mostCpuBetweenTurns(ended.signal)
  try {
    await work()
  } finally {
    ended.abort()
  }
  return looking
}

async function mostCpuBetweenTurns(ended: AbortSignal): Promise<number> {
  let most = 0
  let before = cpuMs()
  try {
    for await (const _ of every(lookEveryMs, undefined, { signal: ended })) {
      const now = cpuMs()
      most = Math.max(most, now - before)
      before = now
    }
  } catch (error) {
    if (!ended.aborted) throw error
  }
  return Math.max(most, cpuMs() - before)
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
