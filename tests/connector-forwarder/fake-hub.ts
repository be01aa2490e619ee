import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { batchErrorsMax } from '../../contract/limits.ts'
import type { JsonObject } from '../../provenance/index.ts'

/** What the fake does with the next batch instead of taking it. */
export type Turn =
  /** It takes the batch, and the answer is lost. */
  'take and hang up' | 'hang up' | { status: number; slug?: string; retryAfter?: number; html?: boolean }

export interface SentBatch {
  key: string
  users: string[]
  token: string
  atMs: number
}

/** The part of the Hub that the forwarder talks to, with every answer at the test's command. */
export class FakeHub {
  /** Batches as they came, taken or not. */
  readonly sent: SentBatch[] = []
  /** Of the events it has. */
  readonly records: JsonObject[] = []
  readonly queries: URLSearchParams[] = []
  readonly turns: Turn[] = []
  /** `user_id` of events that it refuses, one by one. */
  readonly unwelcome = new Set<string>()
  /** Requests with one of these are refused whole. */
  readonly poison = new Set<string>()
  scope = 'telemetry:write telemetry:read'
  /** How far its clock is ahead. */
  aheadMs = 0
  tokens = 0
  tokenStatus = 200
  /** Called before a connection is closed without a response. */
  onHangUp = () => {}
  readonly #answers = new Map<string, object>()
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response)
  })

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  get users(): string[] {
    return this.records.map((record) => record.user_id as string).sort()
  }

  /** Its keys are forgotten, as they are after a day. */
  forgetKeys(): void {
    this.#answers.clear()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url!, this.url)
    response.setHeader('date', new Date(Date.now() + this.aheadMs).toUTCString())
    if (url.pathname === '/api/v1/oauth/token') return this.#token(response)
    if (url.pathname === '/api/v1/hub/records') return this.#query(url, response)
    return this.#batch(request, Buffer.concat(chunks), response)
  }

  #token(response: ServerResponse): void {
    if (this.tokenStatus !== 200) {
      problem(response, { status: this.tokenStatus, slug: 'authentication-failed' })
      return
    }
    this.tokens++
    json(response, 200, { access_token: `token-${this.tokens}`, expires_in: 3600, scope: this.scope })
  }

  #query(url: URL, response: ServerResponse): void {
    this.queries.push(url.searchParams)
    json(response, 200, { records: this.records, next_cursor: null })
  }

  #batch(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { events } = JSON.parse(gunzipSync(body).toString()) as { events: JsonObject[] }
    const key = String(request.headers['idempotency-key'])
    const users = events.map((event) => event.user_id as string)
    this.sent.push({ key, users, token: String(request.headers.authorization), atMs: Date.now() })
    const turn = this.turns.shift()
    if (turn === 'hang up') {
      this.#hangUp(request)
      return
    }
    const isPoisoned = users.some((user) => this.poison.has(user))
    const rejection = turn ?? (isPoisoned ? { status: 400, slug: 'validation-failed' } : undefined)
    if (typeof rejection === 'object') {
      problem(response, rejection)
      return
    }
    const answer = this.#answers.get(key) ?? this.#take(events)
    this.#answers.set(key, answer)
    if (turn === 'take and hang up') this.#hangUp(request)
    else json(response, 201, answer)
  }

  #hangUp(request: IncomingMessage): void {
    this.onHangUp()
    request.socket.destroy()
  }

  #take(events: JsonObject[]): object {
    const errors: object[] = []
    const records: object[] = []
    for (const [index, event] of events.entries()) {
      if (this.unwelcome.has(event.user_id as string)) {
        const type = `${this.url}/errors/skill-not-registered`
        const pointer = `/events/${index}/skill_id`
        const detail = `${pointer} must be a registered skill`
        errors.push({ index, type, title: 'Skill not registered', status: 422, detail, pointer })
      } else {
        const record_id = `r${this.records.length}`
        this.records.push({ record_id, record_type: 'telemetry_event', related_records: [], ...event })
        records.push({ index, record_id })
      }
    }
    const failed = errors.length
    const omitted = errors.splice(batchErrorsMax).length
    return { accepted: records.length, failed, records, errors, ...(omitted > 0 && { errors_omitted: omitted }) }
  }
}

function problem(response: ServerResponse, { status, slug, retryAfter, html }: Exclude<Turn, string>): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter))
  if (html) response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>proxy</h1>')
  else json(response, status, { type: `http://hub/errors/${slug}`, title: slug, status, detail: `because of ${slug}` })
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
