import { setTimeout as sleep } from 'node:timers/promises'

interface ClientOptions {
  baseUrl: string
  tenant: string
  clientId: string
  clientSecret: string
  /** Space-delimited scopes; defaults to all assigned scopes. */
  scope?: string
  /** Aborts the requests in flight and the waits between them. */
  signal?: AbortSignal
}

interface RequestOptions {
  body?: unknown
  idempotencyKey?: string
}

/** An RFC 7807 error response of the Hub. */
export class HubProblem extends Error {
  override readonly name = 'HubProblem'
  readonly status: number
  readonly document: Record<string, unknown>

  constructor(status: number, document: Record<string, unknown>) {
    super(`${status} ${document.title ?? ''}: ${document.detail ?? 'no detail'}`)
    this.status = status
    this.document = document
  }
}

const attemptsMax = 6
const tokenMarginSeconds = 60
const tokenRequestMs = 30_000

/**
 * Calls the Hub as a service account. Requests a token when needed, and once more after a 401 because the token was
 * revoked. Waits as `Retry-After` requires when rate-limited or unavailable. Throws {@link HubProblem} for every other
 * error. Never follows a redirect: another address would get the secret, the token or the content.
 */
export class HubClient {
  readonly #options: ClientOptions
  #token: { value: string; renewAfterMs: number } | undefined
  #pendingToken: Promise<string> | undefined

  constructor(options: ClientOptions) {
    this.#options = options
  }

  get<T>(path: string, query: Record<string, string | number | boolean | undefined> = {}): Promise<T> {
    const present = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    )
    return this.#call('GET', present.length === 0 ? path : `${path}?${new URLSearchParams(present)}`, {})
  }

  post<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#call('POST', path, options)
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#call('PUT', path, { body })
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#call('PATCH', path, { body })
  }

  /** Sends DELETE. Returns undefined if the response has no body (204). */
  delete<T>(path: string): Promise<T> {
    return this.#call('DELETE', path, {})
  }

  /**
   * Calls the SCIM server of the Hub, as a directory does.
   * @param path from the root of the Hub, such as `/scim/v2/acme/Users`
   * @param token the bearer token of the directory connection
   */
  async scim<T>(method: string, path: string, token: string, body?: unknown): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#send(method, path, token, { body })
      if (response.ok) return contentOf<T>(response)
      await this.#retryOrThrow(response, attempt)
    }
  }

  /**
   * Sends any request to the Hub with a token, and again with a new token after a 401. Returns every other response as
   * it is: a `fetch` for libraries.
   */
  async fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await this.#accessToken()
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      headers.set('x-service-tenant', this.#options.tenant)
      const response = await this.#fetch(address, { ...init, headers })
      if (response.status !== 401 || isRenewed) return response
      await response.body?.cancel()
      if (this.#token?.value === token) this.#token = undefined
    }
  }

  async #call<T>(method: string, path: string, options: RequestOptions): Promise<T> {
    let renewed = false
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#accessToken()
      const response = await this.#send(method, path, token, options)
      if (response.ok) return contentOf<T>(response)
      if (response.status === 401 && !renewed) {
        renewed = true
        await response.body?.cancel()
        // Another call may have replaced the token meanwhile.
        if (this.#token?.value === token) this.#token = undefined
        continue
      }
      await this.#retryOrThrow(response, attempt)
    }
  }

  #send(method: string, path: string, token: string, { body, idempotencyKey }: RequestOptions): Promise<Response> {
    return this.#fetch(`${this.#options.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-service-tenant': this.#options.tenant,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  #fetch(address: string | URL, init: RequestInit): Promise<Response> {
    const signals = [init.signal, this.#options.signal].filter((signal) => signal instanceof AbortSignal)
    return fetch(address, { ...init, redirect: 'error', signal: AbortSignal.any(signals) })
  }

  async #accessToken(): Promise<string> {
    if (this.#token && Date.now() < this.#token.renewAfterMs) return this.#token.value
    // Calls at the same time share one request.
    this.#pendingToken ??= this.#newToken().finally(() => {
      this.#pendingToken = undefined
    })
    return this.#pendingToken
  }

  async #newToken(): Promise<string> {
    const { baseUrl, clientId, clientSecret, scope } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#fetch(`${baseUrl}/api/v1/oauth/token`, {
        method: 'POST',
        signal: AbortSignal.timeout(tokenRequestMs),
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: clientSecret,
          ...(scope === undefined ? {} : { scope }),
        }),
      })
      if (!response.ok) {
        await this.#retryOrThrow(response, attempt)
        continue
      }
      const token = (await response.json()) as { access_token: string; expires_in: number }
      // A token that ends with its account may be short. Then use it for half its lifetime.
      const goodSeconds = Math.max(token.expires_in - tokenMarginSeconds, token.expires_in / 2)
      const renewAfterMs = Date.now() + goodSeconds * 1000
      this.#token = { value: token.access_token, renewAfterMs }
      return token.access_token
    }
  }

  /** Waits if a retry can help; otherwise throws. */
  async #retryOrThrow(response: Response, attempt: number): Promise<void> {
    const document = (await response.json().catch(() => ({}))) as Record<string, unknown>
    if (![429, 503].includes(response.status) || attempt === attemptsMax)
      throw new HubProblem(response.status, document)
    const seconds = Number(response.headers.get('retry-after')) || 2 ** attempt / 4
    const { signal } = this.#options
    await sleep(seconds * 1000, undefined, signal && { signal })
  }
}

async function contentOf<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T
}
