import autocannon from 'autocannon'
import { Pool } from 'undici'

export interface Load {
  /** Answers with the expected status, inside the measured time. */
  answered: number
  seconds: number
  /** Milliseconds. */
  latency: { p50: number; p99: number }
  /** Bodies of all such answers, those of the warm-up included. */
  bodies: Buffer[]
}

interface LoadOptions {
  url: string
  path: string
  headers: Record<string, string>
  connections: number
  seconds: number
  warmUpSeconds: number
  expectedStatus: number
}

/** Requests one after the other on each connection, with bodies taken in turn. For large bodies. */
export async function sendBatches(bodies: readonly Buffer[], options: LoadOptions): Promise<Load> {
  const pool = new Pool(options.url, { connections: options.connections, pipelining: 1 })
  const answers: Buffer[] = []
  const latenciesMs: number[] = []
  let answered = 0
  let next = 0
  const measureFrom = performance.now() + options.warmUpSeconds * 1000
  const measureTo = measureFrom + options.seconds * 1000
  async function work(): Promise<void> {
    for (;;) {
      const began = performance.now()
      if (began >= measureTo) return
      const body = bodies[next++ % bodies.length]!
      const { path, headers } = options
      const response = await pool.request({ method: 'POST', path, headers, body })
      const answer = Buffer.from(await response.body.arrayBuffer())
      if (response.statusCode !== options.expectedStatus) throw new Error(`${response.statusCode} ${answer}`)
      const ended = performance.now()
      answers.push(answer)
      if (ended < measureFrom || ended >= measureTo) continue
      answered++
      latenciesMs.push(ended - began)
    }
  }
  try {
    await Promise.all(Array.from({ length: options.connections }, work))
  } finally {
    await pool.close()
  }
  latenciesMs.sort((a, b) => a - b)
  const quantile = (q: number) => Number((latenciesMs[Math.floor(latenciesMs.length * q)] ?? 0).toFixed(1))
  return { answered, seconds: options.seconds, latency: { p50: quantile(0.5), p99: quantile(0.99) }, bodies: answers }
}

/** The same small request over and over, by autocannon. */
export async function sendSingles(body: Buffer, options: LoadOptions): Promise<Load> {
  const answers: Buffer[] = []
  const fire = (seconds: number) =>
    autocannon({
      url: `${options.url}${options.path}`,
      method: 'POST',
      headers: options.headers,
      body,
      connections: options.connections,
      duration: seconds,
      setupClient: (client) => {
        client.on('body', (answer: Buffer) => answers.push(answer))
      },
    })
  if (options.warmUpSeconds > 0) await fire(options.warmUpSeconds)
  const result = await fire(options.seconds)
  const refused = result.non2xx + result.errors + result.timeouts
  if (refused > 0) throw new Error(`${refused} of ${result.requests.total} requests were not answered as expected`)
  return {
    answered: result['2xx'],
    seconds: result.duration,
    latency: { p50: result.latency.p50, p99: result.latency.p99 },
    bodies: answers,
  }
}
