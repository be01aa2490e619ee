// A receiver of webhooks in a process of its own. The beginning of a path selects its behaviour. GET /arrivals?path=P
// returns when messages arrived.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { announceServer } from './announce.ts'

interface Arrivals {
  /**
   * By message id: `sent_at_ms` of the message's data, and the time of the first arrival, both in milliseconds since
   * 1970.
   */
  first: Map<string, { sentAtMs: number; atMs: number }>
  /** Number of all requests, repeated ones included. */
  requests: number
  waiting: Set<() => void>
}

const byPath = new Map<string, Arrivals>()

function arrivalsAt(path: string): Arrivals {
  const known = byPath.get(path)
  if (known) return known
  const made: Arrivals = { first: new Map(), requests: 0, waiting: new Set() }
  byPath.set(path, made)
  return made
}

const sentAtPattern = /"sent_at_ms":([0-9.]+)/

function take(path: string, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('error', () => {})
  request.on('end', () => {
    const arrivals = arrivalsAt(path)
    const id = request.headers['x-service-webhook-id'] as string
    arrivals.requests += 1
    if (!arrivals.first.has(id)) {
      const sentAtMs = Number(sentAtPattern.exec(Buffer.concat(chunks).toString())?.[1])
      arrivals.first.set(id, { sentAtMs, atMs: performance.timeOrigin + performance.now() })
    }
    if (path.startsWith('/hang')) return
    response.writeHead(path.startsWith('/fail') ? 500 : 200).end('ok')
    for (const look of arrivals.waiting) look()
  })
}

/** Waits until this many different messages have arrived, and returns the time that each took; then forgets them. */
function tell(url: URL, response: ServerResponse): void {
  const path = url.searchParams.get('path') ?? ''
  const count = Number(url.searchParams.get('count'))
  const arrivals = arrivalsAt(path)
  const look = () => {
    if (arrivals.first.size < count) return
    arrivals.waiting.delete(look)
    const all = [...arrivals.first.values()]
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        messages: all.length,
        requests: arrivals.requests,
        last_at_ms: Math.max(0, ...all.map(({ atMs }) => atMs)),
        took_ms: all.map(({ sentAtMs, atMs }) => atMs - sentAtMs),
      }),
    )
    arrivals.first.clear()
    arrivals.requests = 0
  }
  arrivals.waiting.add(look)
  response.once('close', () => arrivals.waiting.delete(look))
  look()
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const url = new URL(request.url ?? '/', 'http://receiver')
  if (request.method === 'GET') tell(url, response)
  else take(url.pathname, request, response)
})
await announceServer(server, () => {})
