// Sends requests at given times, regardless of earlier responses: finds how long callers wait.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { freshKey, type LoadOptions } from './closed-loop.ts'
import { quantile, rounded } from './statistics.ts'

export interface RateLoad {
  answered: number
  perSecond: number
  /** Latency from the time a request was due, not from a free connection: no coordinated omission. */
  latencyMs: { p50: number; p90: number; p99: number; p999: number; max: number }
  /** Delay of the generator itself, which the latencies include. */
  lateMs: { p99: number; max: number }
}

/** Connections are opened and late code is compiled before the measurement. */
const leadInSeconds = 1

/** Sends requests at even intervals. */
export async function sendAtRate(
  bodies: readonly string[],
  options: LoadOptions & { perSecond: number },
): Promise<RateLoad> {
  const { url, path, connections, acknowledged, perSecond, seconds } = options
  const pool = new Pool(url, { connections, pipelining: 1 })
  const leadIn = Math.floor(perSecond * leadInSeconds)
  const total = leadIn + Math.floor(perSecond * seconds)
  const latenciesMs: number[] = []
  const latesMs: number[] = []
  const running = new Set<Promise<void>>()
  let failure: Error | undefined

  async function send(at: number, dueMs: number): Promise<void> {
    const headers = options.keys ? { ...options.headers, 'idempotency-key': freshKey() } : options.headers
    const response = await pool.request({ method: 'POST', path, headers, body: bodies[at % bodies.length]! })
    const answer = Buffer.from(await response.body.arrayBuffer())
    if (response.statusCode !== options.expectedStatus) throw new Error(`${response.statusCode} ${answer}`)
    if (at >= leadIn) latenciesMs.push(performance.now() - dueMs)
    acknowledged?.addFrom(answer)
  }

  const began = performance.now()
  try {
    for (let at = 0; at < total && failure === undefined; ) {
      const now = performance.now()
      for (let dueMs = dueAt(at); dueMs <= now && at < total; dueMs = dueAt(++at)) {
        if (at >= leadIn) latesMs.push(now - dueMs)
        const sent: Promise<void> = send(at, dueMs)
          .catch((error: Error) => {
            failure = error
          })
          .finally(() => running.delete(sent))
        running.add(sent)
      }
      await sleep(1)
    }
    await Promise.all(running)
  } finally {
    await pool.close()
  }
  if (failure) throw failure
  const at = (q: number) => rounded(quantile(latenciesMs, q))
  return {
    answered: latenciesMs.length,
    perSecond: total / ((performance.now() - began) / 1000),
    latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) },
    lateMs: { p99: rounded(quantile(latesMs, 0.99)), max: rounded(quantile(latesMs, 1)) },
  }

  function dueAt(index: number): number {
    return began + (index * 1000) / perSecond
  }
}
