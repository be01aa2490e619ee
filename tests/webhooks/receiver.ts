import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { localhostCertificate, localhostKey } from '../support/localhost-certificate.ts'
import { scaled } from '../support/machine-speed.ts'
import { type Behaviour, take } from './receiver-behaviours.ts'

/** Of `t`, in both directions (interface section 5). */
const signatureAgeMs = 300_000
const withinMsDefault = scaled(30_000)

/** A message as it came in. */
export interface ReceivedMessage {
  path: string
  headers: IncomingHttpHeaders
  /** The bytes that were signed. */
  raw: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
  /** `X-Service-Webhook-Id`. */
  id: string
  sequence: number
  t: number
  /** How many signatures the header holds. */
  signatures: number
  /** Places in `secrets` of those that signed it. */
  signedBy: number[]
  /** Milliseconds since the epoch. */
  atMs: number
  /** How often its id had come to this endpoint before. */
  earlier: number
  /** Status of the head that was answered; absent while there is none. */
  answered?: number
}

/** One address of a receiver, with habits of its own. */
export interface ReceivingEndpoint {
  readonly path: string
  readonly url: string
  /** The same with a certificate that nobody knows. */
  readonly tlsUrl: string
  /** Of requests to come. */
  behaviour: Behaviour
  /** What it verifies with; without any, nothing is verified. */
  secrets: string[]
  readonly received: ReceivedMessage[]
  /** What was wrong with what came in: headers, signature, body. */
  readonly faults: string[]
  /** Requests that it has not answered, and whose caller has not left. */
  readonly open: number
  /** The most there were of them at once. */
  openMost: number
  /** Ids that were answered with 2xx. */
  taken(): Set<string>
  /** Deliveries of messages that it had taken already. */
  duplicates(): number
  /** Messages by id, each with its attempts in the order in which they came. */
  byId(): Map<string, ReceivedMessage[]>
  /** Resolves as soon as it is so; looks whenever a request comes in, is answered or is left. */
  until(isSo: (endpoint: ReceivingEndpoint) => boolean, withinMs?: number): Promise<ReceivingEndpoint>
  /** Once so many came in. */
  count(count: number, withinMs?: number): Promise<ReceivedMessage[]>
}

/** A system of a customer that takes webhooks, on 127.0.0.1, with every bad habit. */
export interface Receiver {
  /** The endpoint of a path, made where there is none: it takes everything. */
  at(path: string): ReceivingEndpoint
  /** Closes connections as they are made, and those there are. */
  refusing: boolean
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const endpoints = new Map<string, Endpoint>()
  const sockets = new Set<Socket>()
  let refusing = false

  async function listen(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const endpoint = at(new URL(request.url ?? '/', 'http://receiver').pathname)
    endpoint.begin(response)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      // The caller left.
      return
    }
    endpoint.take(request, response, Buffer.concat(chunks))
  }
  const plain = createServer({ keepAliveTimeout: 60_000 }, listen)
  const tls = createTlsServer({ cert: localhostCertificate, key: localhostKey }, listen)
  for (const server of [plain, tls]) {
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {})
      if (refusing) return void socket.destroy()
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    server.on('clientError', (_error, socket) => void socket.destroy())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const { port } = plain.address() as AddressInfo
  const { port: tlsPort } = tls.address() as AddressInfo

  function at(path: string): Endpoint {
    const known = endpoints.get(path)
    if (known) return known
    const made = new Endpoint(path, `http://127.0.0.1:${port}${path}`, `https://127.0.0.1:${tlsPort}${path}`)
    endpoints.set(path, made)
    return made
  }

  return {
    at,
    get refusing() {
      return refusing
    },
    set refusing(now) {
      refusing = now
      if (now) for (const socket of sockets) socket.destroy()
    },
    async stop() {
      for (const server of [plain, tls]) {
        server.closeAllConnections()
        server.close()
      }
      for (const socket of sockets) socket.destroy()
      await Promise.all([plain, tls].map((server) => once(server, 'close')))
    },
  }
}

class Endpoint implements ReceivingEndpoint {
  readonly path: string
  readonly url: string
  readonly tlsUrl: string
  behaviour: Behaviour = take
  secrets: string[] = []
  readonly received: ReceivedMessage[] = []
  readonly faults: string[] = []
  open = 0
  openMost = 0
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  constructor(path: string, url: string, tlsUrl: string) {
    this.path = path
    this.url = url
    this.tlsUrl = tlsUrl
  }

  begin(response: ServerResponse): void {
    this.open += 1
    this.openMost = Math.max(this.openMost, this.open)
    response.on('error', () => {})
    response.once('close', () => {
      this.open -= 1
      this.#look()
    })
  }

  take(request: IncomingMessage, response: ServerResponse, raw: Buffer): void {
    const message = this.#read(request, raw)
    this.received.push(message)
    // As soon as the head is written: from then on the caller may know.
    const writeHead = response.writeHead.bind(response) as (...all: unknown[]) => ServerResponse
    response.writeHead = (...all: unknown[]) => {
      message.answered = all[0] as number
      return writeHead(...all)
    }
    this.behaviour(response, request)
    this.#look()
  }

  #read(request: IncomingMessage, raw: Buffer): ReceivedMessage {
    const { headers, method } = request
    const { t, signatures, signedBy, problem } = verifySignature(headers['x-service-signature'], raw, this.secrets)
    const id = String(headers['x-service-webhook-id'] ?? '')
    const body = parsed(raw)
    const earlier = this.#counts.get(id) ?? 0
    this.#counts.set(id, earlier + 1)
    const wrong = [
      method === 'POST' ? undefined : `method ${method}`,
      this.secrets.length === 0 ? undefined : problem,
      headers['content-type'] === 'application/json' ? undefined : `content type ${headers['content-type']}`,
      id === body?.id ? undefined : `X-Service-Webhook-Id ${id} of the message ${body?.id}`,
      headers['x-service-tenant'] === body?.tenant ? undefined : `tenant ${headers['x-service-tenant']}`,
      Number.isSafeInteger(body?.sequence) ? undefined : `sequence ${body?.sequence}`,
    ]
    for (const fault of wrong) if (fault !== undefined) this.faults.push(`${id}: ${fault}`)
    return {
      path: request.url ?? '',
      headers,
      raw,
      body,
      id,
      sequence: body?.sequence,
      t,
      signatures,
      signedBy,
      atMs: Date.now(),
      earlier,
    }
  }

  taken(): Set<string> {
    return new Set(this.received.filter(wasTaken).map(({ id }) => id))
  }

  duplicates(): number {
    return this.received.filter(wasTaken).length - this.taken().size
  }

  byId(): Map<string, ReceivedMessage[]> {
    return Map.groupBy(this.received, ({ id }) => id)
  }

  async count(count: number, withinMs?: number): Promise<ReceivedMessage[]> {
    await this.until(({ received }) => received.length >= count, withinMs)
    return this.received
  }

  until(isSo: (endpoint: ReceivingEndpoint) => boolean, withinMs = withinMsDefault): Promise<ReceivingEndpoint> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo(this)) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(this)
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        const { length } = this.received
        reject(new Error(`${this.path}: after ${withinMs} ms ${length} came in, ${this.taken().size} taken: ${isSo}`))
      }, withinMs)
      this.#waiting.add(look)
      look()
    })
  }

  #look(): void {
    for (const look of this.#waiting) look()
  }
}

function wasTaken({ answered = 0 }: ReceivedMessage): boolean {
  return answered >= 200 && answered < 300
}

/**
 * By interface section 5 rule 7 alone, and by none of the service's code: HMAC-SHA256 over `<t>.<raw body>`, keyed with
 * the whole secret, in lower-case hex.
 */
function verifySignature(header: string | string[] | undefined, raw: Buffer, secrets: readonly string[]) {
  const text = String(header ?? '')
  const parts = text.split(',').map((part) => part.split('='))
  const times = parts.filter(([name]) => name === 't').map(([, value]) => Number(value))
  const given = parts.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  const t = times[0] ?? Number.NaN
  const signed = Buffer.concat([Buffer.from(`${t}.`), raw])
  const signedBy = secrets.flatMap((secret, at) => {
    const wanted = Buffer.from(createHmac('sha256', secret).update(signed).digest('hex'))
    const isIts = given.some((one) => one.length === wanted.length && timingSafeEqual(Buffer.from(one), wanted))
    return isIts ? [at] : []
  })
  const age = Math.abs(Date.now() - t * 1000)
  let problem: string | undefined
  if (times.length !== 1 || !Number.isSafeInteger(t)) problem = `no single t in ${text}`
  else if (!(age <= signatureAgeMs)) problem = `signed ${Math.round(age / 1000)} s from now`
  else if (signedBy.length === 0) problem = `no good signature in ${text}`
  else if (parts.length !== given.length + 1) problem = `something else in ${text}`
  return { t, signatures: given.length, signedBy, problem }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came in
function parsed(raw: Buffer): any {
  try {
    return JSON.parse(raw.toString())
  } catch {
    return undefined
  }
}
