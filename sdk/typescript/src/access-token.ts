import type { HubError } from './hub-error.ts'

/** A service account. The client requests tokens, and renews them before they expire. */
export interface ServiceAccount {
  clientId: string
  clientSecret: string
  /** Space-delimited scopes; defaults to all assigned scopes. */
  scope?: string
}

/**
 * A token of the caller's own, or a function that returns one for each request. The function gets the last token that the
 * Hub refused, so that it can renew that one.
 */
export interface StaticToken {
  accessToken: string | ((refused?: string) => string | Promise<string>)
}

/** Credentials of the client. */
export type Credentials = ServiceAccount | StaticToken

/** The response of the token endpoint. */
export interface IssuedToken {
  access_token: string
  expires_in: number
}

/** Provides the bearer token of requests. */
export interface TokenSource {
  get(): Promise<string>
  /** Discards a token that the Hub refused. Returns true if another attempt may have another one. */
  refused(token: string, error: HubError): boolean
}

const tokenMarginSeconds = 60

/** Returns the token source of credentials. `request` calls the token endpoint. */
export function tokenSourceOf(
  credentials: Credentials,
  request: (account: ServiceAccount) => Promise<IssuedToken>,
): TokenSource {
  if (!('accessToken' in credentials)) return new AccountTokens(credentials, request)
  const { accessToken } = credentials
  if (typeof accessToken === 'string') return { get: async () => checked(accessToken), refused: () => false }
  let last: string | undefined
  return {
    get: async () => checked(await accessToken(last)),
    refused: (token) => {
      last = token
      return true
    },
  }
}

/** Thrown instead of the error of the platform, which may quote the token. */
export class MalformedToken extends TypeError {
  override readonly name: string = 'MalformedToken'

  constructor() {
    super('The access token is empty, or has other characters than visible ASCII. Check it for spaces and line breaks')
  }
}

/** Returns a token that a header can carry. Throws {@link MalformedToken} for another one, or none. */
function checked(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token
  throw new MalformedToken()
}

/** Keeps one token of a service account. Calls at the same time share one request for it. */
class AccountTokens implements TokenSource {
  readonly #account: ServiceAccount
  readonly #request: (account: ServiceAccount) => Promise<IssuedToken>
  #token: { value: string; renewAfterMs: number } | undefined
  #pending: Promise<string> | undefined

  constructor(account: ServiceAccount, request: (account: ServiceAccount) => Promise<IssuedToken>) {
    this.#account = account
    this.#request = request
  }

  async get(): Promise<string> {
    if (this.#token && Date.now() < this.#token.renewAfterMs) return this.#token.value
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  refused(token: string): boolean {
    // Another call may have replaced the token meanwhile.
    if (this.#token?.value === token) this.#token = undefined
    return true
  }

  async #renew(): Promise<string> {
    const { access_token: token, expires_in: seconds } = await this.#request(this.#account)
    const value = checked(token)
    // A token that ends with its account may be short. Then use it for half its lifetime.
    const goodSeconds = Math.max(seconds - tokenMarginSeconds, seconds / 2)
    this.#token = { value, renewAfterMs: Date.now() + goodSeconds * 1000 }
    return value
  }
}
