// Sends the next request after each response: finds the maximum rate of a server.
import autocannon from 'autocannon'
import { Pool } from 'undici'
import type { AcknowledgedIds } from './acknowledged-ids.ts'
import { quantile, rounded } from './statistics.ts'

export interface Load {
  /** Number of requests with the expected response. */
  answered: number
  seconds: number
  perSecond: number
  latencyMs: { p50: number; p99: number; max: number }
}

export interface LoadOptions {
  url: string
  path: string
  headers: Readonly<Record<string, string>>
  connections: number
  seconds: number
  expectedStatus: number
  /** Gives each request a new Idempotency-Key. */
  keys?: boolean
  acknowledged?: AcknowledgedIds
  onAnswer?: (answer: Buffer) => void
}

let keysMade = 0
const keyPrefix = `bench-${process.pid}-${Date.now()}-`

export function freshKey(): string {
  return `${keyPrefix}${keysMade++}`
}

/** Sends bodies in turn, one request at a time on each connection. Use it for large bodies, and for GET without any. */
export async function sendInTurn(
  bodies: readonly (Buffer | undefined)[],
  options: LoadOptions & {
    method?: 'GET' | 'POST'
    /** Stops before `seconds` after this many requests. */
    requestsMax?: number
  },
): Promise<Load & { latenciesMs: number[] }> {
  const { url, path, connections, method = 'POST', requestsMax = Number.POSITIVE_INFINITY, acknowledged } = options
  const pool = new Pool(url, { connections, pipelining: 1 })
  const latenciesMs: number[] = []
  let next = 0
  const began = performance.now()
  const until = began + options.seconds * 1000
  async function work(): Promise<void> {
    for (let sent = performance.now(); sent < until && next < requestsMax; sent = performance.now()) {
      const body = bodies[next++ % bodies.length] ?? null
      const headers = options.keys ? { ...options.headers, 'idempotency-key': freshKey() } : options.headers
      const response = await pool.request({ method, path, headers, body })
      const answer = Buffer.from(await response.body.arrayBuffer())
      latenciesMs.push(performance.now() - sent)
      if (response.statusCode !== options.expectedStatus) throw new Error(`${response.statusCode} ${answer}`)
      acknowledged?.addFrom(answer)
      options.onAnswer?.(answer)
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, work))
  } finally {
    await pool.close()
  }
  const seconds = (performance.now() - began) / 1000
  const [p50, p99, max] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99), quantile(latenciesMs, 1)]
  return { ...loadOf(latenciesMs.length, seconds, { p50, p99, max }), latenciesMs }
}

/**
 * Sends small requests at the highest rate, by autocannon. Distributes the bodies over the connections; without any,
 * sends GET.
 */
export async function sendSingles(bodies: readonly string[], options: LoadOptions): Promise<Load> {
  const { acknowledged, onAnswer, connections } = options
  let clients = 0
  const result = await autocannon({
    url: `${options.url}${options.path}`,
    method: bodies.length === 0 ? 'GET' : 'POST',
    headers: options.headers,
    connections,
    duration: options.seconds,
    setupClient: (client) => {
      const own = clients++
      const requests = bodies
        .filter((_, at) => at % connections === own)
        .map((body) => ({ body, ...(options.keys ? { setupRequest: withFreshKey } : {}) }))
      if (requests.length > 0) client.setRequests(requests)
      if (acknowledged) client.on('body', (answer: Buffer) => acknowledged.addFrom(answer))
      if (onAnswer) client.on('body', onAnswer)
    },
  })
  const refused = result.non2xx + result.errors + result.timeouts
  if (refused > 0) throw new Error(`${refused} of ${result.requests.total} requests were not answered as expected`)
  const { p50, p99, max } = result.latency
  return loadOf(result['2xx'], result.duration, { p50, p99, max })
}

function withFreshKey(request: autocannon.Request): autocannon.Request {
  return { ...request, headers: { ...request.headers, 'idempotency-key': freshKey() } }
}

function loadOf(answered: number, seconds: number, latencyMs: Load['latencyMs']): Load {
  const { p50, p99, max } = latencyMs
  return {
    answered,
    seconds,
    perSecond: answered / seconds,
    latencyMs: { p50: rounded(p50), p99: rounded(p99), max: rounded(max) },
  }
}
