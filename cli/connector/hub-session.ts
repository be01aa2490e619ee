import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { decodeJwt } from 'jose'
import { NotSignedInError } from '../login/login-errors.ts'
import { describeResponse, type HubResponse, type Outcome, readBatchResponse, readFailure } from './hub-response.ts'
import type { SpooledBatch } from './spool-batches.ts'

const requestMs = 60_000
/** The Hub forgets a key 24 hours after it accepted the request. One hour is left for clocks and slow networks. */
export const keyTrustedMs = 23 * 3_600_000
/** The maximum `Retry-After` that is obeyed. */
const retryAfterSecondsMax = 3600

/** A service account, or a function that returns the token of a person. It gets a token that the Hub refused. */
export type SessionCredentials =
  | { clientId: string; clientSecret: string }
  | { accessToken: (refused?: string) => Promise<string> }

type Credentials = { hubUrl: string; tenant: string } & SessionCredentials

interface Token {
  /** The `created_by` of what is written with it. */
  subject: string
  value: string
  scopes: ReadonlySet<string>
  renewAtMs: number
}

/** Signals that a query failed. */
export class QueryFailed extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super('message' in outcome ? outcome.message : outcome.kind)
    this.outcome = outcome
  }
}

const compress = promisify(gzip)
const marginSeconds = 60

/** A session at the Hub: a renewed token of a service account or a person, and its requests. */
export class HubSession {
  readonly #credentials: Credentials
  readonly #ending = new AbortController()
  #token: Token | undefined
  /** The Hub's time at a reading of the monotonic clock, which nobody adjusts. */
  #hubClock: { hubMs: number; readMs: number } | undefined

  constructor(credentials: Credentials) {
    this.#credentials = credentials
  }

  /** The `created_by` of what this session writes. Known after `signIn`. */
  get subject(): string {
    return this.#token?.subject ?? ''
  }

  /** True if the account may read telemetry. Known after `signIn`. */
  get mayRead(): boolean {
    const scopes = this.#token?.scopes
    return scopes !== undefined && (scopes.has('telemetry:read') || scopes.has('hub:read'))
  }

  /** Requests a token unless a valid one exists. Returns the obstacle, or undefined. */
  async signIn(): Promise<Outcome | undefined> {
    return this.#token && performance.now() < this.#token.renewAtMs ? undefined : this.#renew()
  }

  /** Returns the Hub's time, derived from its responses; this machine's before the first response. */
  hubNowMs(): number {
    if (this.#hubClock === undefined) return Date.now()
    return Math.round(this.#hubClock.hubMs + performance.now() - this.#hubClock.readMs)
  }

  /** Sends a batch with the current token. Never throws. */
  async send({ key, events }: SpooledBatch): Promise<Outcome> {
    const body = await compress(`{"events":[${events.join(',')}]}`)
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'idempotency-key': key }
    try {
      const answer = await this.#askWithToken('/api/v1/telemetry/events:batch', { method: 'POST', headers, body })
      return readBatchResponse(answer, events.length)
    } catch (error) {
      return readFailure(error)
    }
  }

  /** Returns a page of the Hub query. Throws {@link QueryFailed}. */
  async query(
    parameters: Record<string, string>,
  ): Promise<{ records: Record<string, unknown>[]; next_cursor: string | null }> {
    const barred = await this.signIn()
    if (barred) throw new QueryFailed(barred)
    const path = `/api/v1/hub/records?${new URLSearchParams(parameters)}`
    const answer = await this.#askWithToken(path, {}).catch((error: unknown) => {
      throw new QueryFailed(readFailure(error))
    })
    const { records, next_cursor } = (answer.body ?? {}) as Record<string, unknown>
    if (answer.status !== 200 || !Array.isArray(records)) throw new QueryFailed(readBatchResponse(answer, 0))
    return { records, next_cursor: typeof next_cursor === 'string' ? next_cursor : null }
  }

  /** Aborts the requests in flight. */
  abort(): void {
    this.#ending.abort()
  }

  /** @param refused a token that the Hub refused */
  async #renew(refused?: string): Promise<Outcome | undefined> {
    this.#token = undefined
    if ('accessToken' in this.#credentials) return this.#renewOfPerson(this.#credentials.accessToken, refused)
    const { clientId, clientSecret } = this.#credentials
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    try {
      const answer = await this.#ask('/api/v1/oauth/token', { method: 'POST', body: new URLSearchParams(form) })
      const { access_token, expires_in, scope } = (answer.body ?? {}) as Record<string, unknown>
      if (answer.status === 200 && typeof access_token === 'string' && typeof expires_in === 'number') {
        const goodSeconds = Math.max(expires_in - marginSeconds, expires_in / 2)
        const scopes = new Set(String(scope ?? '').split(' '))
        const renewAtMs = performance.now() + goodSeconds * 1000
        return this.#accept({ subject: clientId, value: access_token, scopes, renewAtMs }, 'The service account')
      }
      const { retryAfterMs } = answer
      const message = `No token: ${describeResponse(answer)}`
      const passes = answer.status === 429 || answer.status >= 500
      return { kind: passes ? 'not-taken' : 'barred', message, retryAfterMs }
    } catch (error) {
      // Regardless of the failure, this request contained no event.
      return { kind: 'not-taken', message: readFailure(error).message }
    }
  }

  /** The function renews the token, so it is called before each request. */
  async #renewOfPerson(
    accessToken: (refused?: string) => Promise<string>,
    refused: string | undefined,
  ): Promise<Outcome | undefined> {
    try {
      const value = await accessToken(refused)
      const { sub: subject = '', scope } = decodeJwt<{ scope?: string }>(value)
      return this.#accept({ subject, value, scopes: new Set(scope?.split(' ')), renewAtMs: 0 }, 'Your login')
    } catch (error) {
      if (error instanceof NotSignedInError) throw error
      return { kind: 'not-taken', message: readFailure(error).message }
    }
  }

  #accept(token: Token, holder: string): Outcome | undefined {
    if (!token.scopes.has('telemetry:write')) {
      return { kind: 'barred', message: `${holder} has no scope telemetry:write.` }
    }
    this.#token = token
    return undefined
  }

  /** Retries once with a new token if this one was rejected; returns a second 401. */
  async #askWithToken(path: string, init: RequestInit): Promise<HubResponse> {
    const answer = await this.#ask(path, this.#withToken(init))
    if (answer.status !== 401 || (await this.#renew(this.#token?.value)) !== undefined) return answer
    return this.#ask(path, this.#withToken(init))
  }

  #withToken(init: RequestInit): RequestInit {
    const { tenant } = this.#credentials
    const headers = { authorization: `Bearer ${this.#token?.value}`, 'x-service-tenant': tenant, ...init.headers }
    return { ...init, headers }
  }

  async #ask(path: string, init: RequestInit): Promise<HubResponse> {
    const response = await fetch(`${this.#credentials.hubUrl}${path}`, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(requestMs), this.#ending.signal]),
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) this.#hubClock = { hubMs: date, readMs: performance.now() }
    const text = await response.text()
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const retryAfterMs = seconds > 0 ? Math.min(seconds, retryAfterSecondsMax) * 1000 : undefined
    return { status: response.status, body: jsonOf(text), retryAfterMs }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
