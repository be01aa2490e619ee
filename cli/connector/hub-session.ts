import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { requestMs, retryAfterSecondsMax } from './connector-limits.ts'
import { describeResponse, type Outcome, readBatchResponse, readFailure } from './hub-response.ts'
import type { SpooledBatch } from './spool-batches.ts'

interface Credentials {
  hubUrl: string
  tenant: string
  clientId: string
  clientSecret: string
}

interface Token {
  value: string
  scopes: ReadonlySet<string>
  renewAtMs: number
}

interface HttpAnswer {
  status: number
  body: unknown
  retryAfterMs: number | undefined
}

/** Signals that a query failed. */
export class QueryFailed extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super('message' in outcome ? outcome.message : outcome.kind)
    this.outcome = outcome
  }
}

/** The connector's session at the Hub: a service account with a renewed token, and its requests. */
export interface HubSession {
  readonly clientId: string
  /** Requests a token unless a valid one exists. Returns the obstacle, or undefined. */
  signIn(): Promise<Outcome | undefined>
  /** True if the account may read telemetry. Known after `signIn`. */
  readonly mayRead: boolean
  /** Returns the Hub's time, derived from its responses; this machine's before the first response. */
  hubNowMs(): number
  /** Sends a batch with the current token. Never throws. */
  send(batch: SpooledBatch): Promise<Outcome>
  /** Returns a page of the Hub query. Throws {@link QueryFailed}. */
  query(parameters: Record<string, string>): Promise<{ records: Record<string, unknown>[]; next_cursor: string | null }>
  /** Aborts the requests in flight. */
  abort(): void
}

const compress = promisify(gzip)
const marginSeconds = 60

export function createHubSession(credentials: Credentials): HubSession {
  const { hubUrl, tenant, clientId, clientSecret } = credentials
  const ending = new AbortController()
  let token: Token | undefined
  /** The Hub's time at a reading of the monotonic clock, which nobody adjusts. */
  let hubClock: { hubMs: number; readMs: number } | undefined

  async function ask(path: string, init: RequestInit): Promise<HttpAnswer> {
    const response = await fetch(`${hubUrl}${path}`, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(requestMs), ending.signal]),
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) hubClock = { hubMs: date, readMs: performance.now() }
    const text = await response.text()
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const retryAfterMs = seconds > 0 ? Math.min(seconds, retryAfterSecondsMax) * 1000 : undefined
    return { status: response.status, body: jsonOf(text), retryAfterMs }
  }

  function withToken(init: RequestInit): RequestInit {
    const headers = { authorization: `Bearer ${token?.value}`, 'x-service-tenant': tenant, ...init.headers }
    return { ...init, headers }
  }

  async function renew(): Promise<Outcome | undefined> {
    token = undefined
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    try {
      const answer = await ask('/api/v1/oauth/token', { method: 'POST', body: new URLSearchParams(form) })
      const { access_token, expires_in, scope } = (answer.body ?? {}) as Record<string, unknown>
      if (answer.status === 200 && typeof access_token === 'string' && typeof expires_in === 'number') {
        const goodSeconds = Math.max(expires_in - marginSeconds, expires_in / 2)
        const scopes = new Set(String(scope ?? '').split(' '))
        if (scopes.has('telemetry:write')) {
          token = { value: access_token, scopes, renewAtMs: performance.now() + goodSeconds * 1000 }
          return undefined
        }
        return { kind: 'barred', message: 'The service account has no scope telemetry:write.' }
      }
      const { retryAfterMs } = answer
      const message = `No token: ${describeResponse(answer)}`
      const passes = answer.status === 429 || answer.status >= 500
      return passes ? { kind: 'not-taken', message, retryAfterMs } : { kind: 'barred', message, retryAfterMs }
    } catch (error) {
      // Regardless of the failure, this request contained no event.
      return { kind: 'not-taken', message: readFailure(error).message }
    }
  }

  const signIn = async () => (token && performance.now() < token.renewAtMs ? undefined : renew())

  /** Retries once with a new token if this one was rejected; returns a second 401. */
  async function askWithToken(path: string, init: RequestInit): Promise<HttpAnswer> {
    const answer = await ask(path, withToken(init))
    if (answer.status !== 401 || (await renew()) !== undefined) return answer
    return ask(path, withToken(init))
  }

  return {
    clientId,
    signIn,
    get mayRead() {
      return token !== undefined && (token.scopes.has('telemetry:read') || token.scopes.has('hub:read'))
    },
    hubNowMs: () =>
      hubClock === undefined ? Date.now() : Math.round(hubClock.hubMs + performance.now() - hubClock.readMs),

    async send({ key, events }) {
      const body = await compress(`{"events":[${events.join(',')}]}`)
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'idempotency-key': key }
      try {
        const answer = await askWithToken('/api/v1/telemetry/events:batch', { method: 'POST', headers, body })
        return readBatchResponse(answer, events.length)
      } catch (error) {
        return readFailure(error)
      }
    },

    async query(parameters) {
      const barred = await signIn()
      if (barred) throw new QueryFailed(barred)
      let answer: HttpAnswer
      try {
        answer = await askWithToken(`/api/v1/hub/records?${new URLSearchParams(parameters)}`, {})
      } catch (error) {
        throw new QueryFailed(readFailure(error))
      }
      const { records, next_cursor } = (answer.body ?? {}) as Record<string, unknown>
      if (answer.status !== 200 || !Array.isArray(records)) throw new QueryFailed(readBatchResponse(answer, 0))
      return { records, next_cursor: typeof next_cursor === 'string' ? next_cursor : null }
    },

    abort: () => ending.abort(),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
