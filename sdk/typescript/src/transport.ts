import {
  type Credentials,
  type IssuedToken,
  type ServiceAccount,
  type StaticToken,
  type TokenSource,
  tokenSourceOf,
} from './access-token.ts'
import { HubError } from './hub-error.ts'
import { newRequestId } from './request-id.ts'
import { HubConnectionError, type RetryPolicy, unlessAborted, withRetries } from './retry.ts'

export type Query = Readonly<Record<string, unknown>>

/** Options of all requests. */
export interface TransportOptions {
  /** The address of the Hub, such as `https://hub.example.com`. */
  baseUrl: string
  /** The tenant's slug. */
  tenant: string
  /** Retries of one call after its first attempt; defaults to 5. */
  retries?: number
  /** Maximum seconds of `Retry-After` that a call waits; defaults to 120. A longer one makes the call fail at once. */
  retryAfterMaxSeconds?: number
  /** Maximum milliseconds of one attempt; defaults to 60,000. For downloads, until the content begins. */
  timeoutMs?: number
  /** Aborts the requests in flight and the waits between them. */
  signal?: AbortSignal
  /** Allows `http:` to hosts other than this machine, which exposes the token. Defaults to false. */
  allowHttp?: boolean
}

/** Options of one request. */
export interface RequestOptions {
  /** The query parameters; undefined members are left out. */
  query?: Query
  /** The body: sent as JSON, or a string that is JSON already. */
  body?: unknown
  /** The body as JSON, which is sent unchanged: a text, or its bytes in UTF-8. */
  json?: string | Uint8Array
  /** Further headers. */
  headers?: Readonly<Record<string, string>>
  /** Makes repeated requests return the first response, for 24 hours. */
  idempotencyKey?: string
  /** True if sending the request again does no harm. Defaults to GET, PUT, DELETE and requests with an idempotency key. */
  idempotent?: boolean
  /** Retries of this call. */
  retries?: number
  /** Aborts the request and its retries. */
  signal?: AbortSignal
  /** Lets the request outlive the page. Browsers permit 64 KiB at a time. */
  keepalive?: boolean
}

/** Options of a request that the SDK makes itself. */
interface OwnRequestOptions extends RequestOptions {
  /** Lets the process end while the request waits for a token. */
  isBackground?: boolean
}

/** Sends requests with the token and the tenant, again if that can help. Throws {@link HubError} for error responses. */
export class Transport {
  readonly baseUrl: string
  readonly tenant: string
  readonly #policy: RetryPolicy
  readonly #timeoutMs: number
  readonly #signal: AbortSignal | undefined
  readonly #tokens: TokenSource

  constructor(options: TransportOptions & Credentials) {
    this.baseUrl = baseUrlOf(options.baseUrl, options.allowHttp ?? false)
    if (!/^[a-z][a-z0-9-]{1,62}$/.test(options.tenant)) throw new TypeError('tenant must be the slug of the tenant')
    this.tenant = options.tenant
    this.#policy = {
      retries: numberOf('retries', options.retries ?? 5),
      retryAfterMaxSeconds: numberOf('retryAfterMaxSeconds', options.retryAfterMaxSeconds ?? 120),
    }
    this.#timeoutMs = numberOf('timeoutMs', options.timeoutMs ?? 60_000)
    this.#signal = options.signal
    this.#tokens = tokenSourceOf(credentialsOf(options), (account) => this.#requestToken(account))
  }

  /** Returns the JSON body of a response; undefined if it has none. */
  async json<T>(method: string, path: string, options: OwnRequestOptions = {}): Promise<T> {
    return this.#authorized(method, path, options, async (response) => {
      const text = await response.text()
      return (text === '' ? undefined : JSON.parse(text)) as T
    })
  }

  /**
   * Returns the response of an address as it arrives, without credentials: the address of a download is its own
   * credential.
   */
  download(address: string, options: Pick<RequestOptions, 'headers' | 'signal'> = {}): Promise<Response> {
    const signal = this.#signalOf(options.signal)
    const send = () => this.#attempt(address, { headers: { ...options.headers } }, signal, async (response) => response)
    return withRetries(send, this.#policy, true, signal)
  }

  /**
   * Sends any request with a token, and again with a new token after a 401. Returns every other response: a `fetch` for
   * libraries.
   */
  async fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    if (new URL(address).origin !== new URL(this.baseUrl).origin)
      throw new TypeError('address must be one of the Hub: another host would get the token')
    const signal = this.#signalOf(init.signal ?? undefined)
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await this.#token(signal)
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      headers.set('x-service-tenant', this.tenant)
      const response = await fetch(address, { ...init, headers, redirect: 'error', ...(signal && { signal }) })
      if (response.status !== 401 || isRenewed) return response
      if (!this.#tokens.refused(token, await HubError.from(response.clone()))) return response
      await response.body?.cancel()
    }
  }

  #authorized<T>(
    method: string,
    path: string,
    options: OwnRequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { body, idempotencyKey, keepalive = false } = options
    const signal = this.#signalOf(options.signal)
    const json = options.json ?? (body === undefined ? undefined : JSON.stringify(body))
    const idempotent =
      options.idempotent ?? (['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || idempotencyKey !== undefined)
    const attempt = (token: string) => {
      const stream = json instanceof Uint8Array && isNode ? streamOf(json) : undefined
      return this.#attempt(
        `${this.baseUrl}${path}${queryText(options.query)}`,
        {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            'x-service-tenant': this.tenant,
            'x-service-request-id': newRequestId(),
            ...(json === undefined ? {} : { 'content-type': 'application/json' }),
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
            ...options.headers,
            ...(stream && { 'content-length': String(json?.length) }),
          },
          ...(stream ? { body: stream, duplex: 'half' } : json === undefined ? {} : { body: json }),
          ...(keepalive && { keepalive }),
        } as RequestInit,
        signal,
        read,
      )
    }
    const send = async () => {
      const token = await this.#token(signal, options.isBackground)
      try {
        return await attempt(token)
      } catch (error) {
        if (!(error instanceof HubError) || error.status !== 401 || !this.#tokens.refused(token, error)) throw error
        return await attempt(await this.#token(signal, options.isBackground))
      }
    }
    return withRetries(send, { ...this.#policy, retries: options.retries ?? this.#policy.retries }, idempotent, signal)
  }

  /**
   * Returns the token. A call of the application keeps the process alive meanwhile: the pauses between requests for a token
   * do not.
   */
  async #token(signal: AbortSignal | undefined, isBackground = false): Promise<string> {
    const alive = isBackground ? undefined : setInterval(() => undefined, 2 ** 30)
    try {
      return await unlessAborted(this.#tokens.get(), signal)
    } finally {
      clearInterval(alive)
    }
  }

  #requestToken(account: ServiceAccount): Promise<IssuedToken> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: account.clientId,
      client_secret: account.clientSecret,
      ...(account.scope === undefined ? {} : { scope: account.scope }),
    })
    const send = () =>
      this.#attempt(`${this.baseUrl}/api/v1/oauth/token`, { method: 'POST', body }, this.#signal, async (response) => {
        return (await response.json()) as IssuedToken
      })
    return withRetries(send, this.#policy, true, this.#signal, { unref: true })
  }

  /** Sends one request. A redirect is an error: another address would get the secret, the token or the content. */
  async #attempt<T>(
    address: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(timeoutOf(this.#timeoutMs)), this.#timeoutMs)
    const both = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    try {
      const response = await fetch(address, { ...init, redirect: 'manual', signal: both })
      if (!response.ok) throw await HubError.from(response)
      return await read(response)
    } catch (error) {
      if (error instanceof HubError || signal?.aborted) throw error
      const cause: unknown = late.signal.aborted ? late.signal.reason : causeOf(error)
      throw new HubConnectionError(`Cannot reach the Hub: ${cause instanceof Error ? cause.message : cause}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }

  #signalOf(signal: AbortSignal | undefined): AbortSignal | undefined {
    return signal && this.#signal ? AbortSignal.any([signal, this.#signal]) : (signal ?? this.#signal)
  }
}

/** Other runtimes send streams without their length, or not at all. */
const isNode = (() => {
  const { versions } = (globalThis as { process?: { versions?: Record<string, string> } }).process ?? {}
  return versions?.node !== undefined && versions.bun === undefined && versions.deno === undefined
})()

/** Returns bytes as a stream, which `fetch` of Node does not copy. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}

function timeoutOf(ms: number): DOMException {
  return new DOMException(`no response within ${ms} ms`, 'TimeoutError')
}

function queryText(query: Query = {}): string {
  const present = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`
}

function baseUrlOf(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new TypeError('baseUrl must be an address such as https://hub.example.com')
  const isLocal = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && !isLocal && !allowHttp)
    throw new TypeError('baseUrl must be https, or the token would cross the network in clear; allowHttp permits it')
  return url.href.replace(/\/+$/, '')
}

function credentialsOf(options: Credentials): Credentials {
  const { accessToken, clientId, clientSecret, scope } = options as Partial<StaticToken & ServiceAccount>
  // Variables of the environment may be missing, whatever the types say.
  const isAccount = Boolean(clientId && clientSecret)
  if (isAccount === Boolean(accessToken))
    throw new TypeError('Either accessToken, or clientId and clientSecret, are required')
  if (!clientId || !clientSecret) return { accessToken: accessToken ?? '' }
  return { clientId, clientSecret, ...(scope === undefined ? {} : { scope }) }
}

/** Returns an option if it is a number from 0. */
export function numberOf(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value
  throw new TypeError(`${name} must be a number from 0`)
}

/** Returns the error of the system, such as ECONNREFUSED, which Node has inside of that of `fetch`. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
