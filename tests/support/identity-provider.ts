import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'
import { CookieJar } from 'tough-cookie'
import { answerSignInForm } from './identity-provider-form.ts'

export interface ProviderClient {
  client_id: string
  client_secret: string
  redirect_uris: string[]
}

/** A person the provider knows. `sub` is also what is typed into its form. */
export interface ProviderAccount {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
}

/** What a test has the provider do otherwise than it should. Undefined members change nothing. */
export interface ProviderFaults {
  discovery?: (document: Record<string, unknown>) => Record<string, unknown>
  /** The claims are signed again, with `key` and its `kid` and `alg` in place of the provider's. */
  idToken?: (claims: JWTPayload) => JWTPayload
  key?: { kid: string; alg: string; privateKey: CryptoKey | Uint8Array }
  /** Answers every request with this status. */
  status?: number
}

export interface IdentityProviderOptions {
  clients: ProviderClient[]
  accounts: ProviderAccount[]
  /** Default 127.0.0.1; `localhost` is another site for browsers. */
  host?: string
  /** E-mail and name come from userinfo only. */
  claimsInUserinfoOnly?: boolean
}

/** A certified OpenID provider on a loopback port. It signs in whoever types the `sub` of one of its accounts. */
export interface IdentityProvider {
  issuer: string
  /** `GET /jwks` and the like, oldest first. */
  requests: string[]
  faults: ProviderFaults
  accounts: Map<string, ProviderAccount>
  /**
   * Walks from an authorization request to the redirect back to the client, which it answers without following, as a
   * browser would with the cookies of `jar`. Account `null` cancels.
   */
  signIn(authorizationUrl: string | URL, sub: string | null, jar?: CookieJar): Promise<URL>
  setSecret(clientId: string, secret: string): void
  /** From now on it signs with another key, and publishes only that one. */
  rotateKeys(): Promise<void>
  stop(): Promise<void>
  /** Answers again at the same address. */
  start(): Promise<void>
}

interface SigningKey {
  jwk: JWK
  privateKey: CryptoKey
}

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const host = options.host ?? '127.0.0.1'
  const accounts = new Map(options.accounts.map((account) => [account.sub, account]))
  const clients = options.clients.map((client) => ({ ...client }))
  const requests: string[] = []
  const faults: ProviderFaults = {}
  let key = await newSigningKey()
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}

  let server = createServer((request, response) => handle(request, response))
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const issuer = `http://${host}:${port}`
  const rebuild = () => {
    handle = handlerOf({ issuer, clients, accounts, key, faults, requests, options })
  }
  rebuild()

  return {
    issuer,
    requests,
    faults,
    accounts,
    signIn: (url, sub, jar = new CookieJar()) => walk(new URL(url), sub, jar, issuer),
    setSecret(clientId, secret) {
      const client = clients.find((each) => each.client_id === clientId)
      if (!client) throw new Error(`no client ${clientId}`)
      client.client_secret = secret
      rebuild()
    },
    async rotateKeys() {
      key = await newSigningKey()
      rebuild()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    async start() {
      server = createServer((request, response) => handle(request, response))
      await listen(server, port)
    },
  }
}

interface ProviderParts {
  issuer: string
  clients: ProviderClient[]
  accounts: Map<string, ProviderAccount>
  key: SigningKey
  faults: ProviderFaults
  requests: string[]
  options: IdentityProviderOptions
}

function handlerOf({ issuer, clients, accounts, key, faults, requests, options }: ProviderParts) {
  const configuration: Configuration = {
    clients: clients.map((client) => ({ ...client, grant_types: ['authorization_code'], response_types: ['code'] })),
    jwks: { keys: [key.jwk] } as NonNullable<Configuration['jwks']>,
    cookies: { keys: ['identity provider of tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: options.claimsInUserinfoOnly === true,
    features: { devInteractions: { enabled: false } },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_ctx, sub) => {
      const account = accounts.get(sub)
      return account && { accountId: sub, claims: () => ({ ...account }) }
    },
  }
  const provider = new Provider(issuer, configuration)
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.path === '/.well-known/openid-configuration' && faults.discovery)
      ctx.body = faults.discovery(ctx.body as Record<string, unknown>)
    const answer = ctx.body as { id_token?: string } | undefined
    if (ctx.path === '/token' && answer?.id_token) answer.id_token = await signAgain(answer.id_token, key, faults)
  })
  const serveProtocol = provider.callback()
  return (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    requests.push(`${request.method} ${pathname}`)
    if (faults.status !== undefined) return response.writeHead(faults.status).end()
    if (pathname.startsWith('/interaction/')) return answerSignInForm(provider, accounts, request, response)
    return serveProtocol(request, response)
  }
}

async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const kid = crypto.randomUUID()
  return { privateKey, jwk: { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'ES256' } }
}

async function signAgain(idToken: string, own: SigningKey, { idToken: change, key }: ProviderFaults): Promise<string> {
  if (change === undefined && key === undefined) return idToken
  const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) as JWTPayload
  const { kid, alg, privateKey } = key ?? { kid: own.jwk.kid ?? '', alg: 'ES256', privateKey: own.privateKey }
  return new SignJWT(change ? change(claims) : claims).setProtectedHeader({ alg, kid }).sign(privateKey)
}

async function walk(start: URL, sub: string | null, jar: CookieJar, issuer: string): Promise<URL> {
  let next: { url: URL; form?: URLSearchParams } = { url: start }
  for (let step = 0; step < 12; step += 1) {
    if (next.url.origin !== issuer) return next.url
    const response: Response = await fetch(next.url, {
      method: next.form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: await jar.getCookieString(next.url.href), accept: 'text/html' },
      ...(next.form && { body: next.form }),
    })
    for (const cookie of response.headers.getSetCookie()) await jar.setCookie(cookie, next.url.href)
    const location = response.headers.get('location')
    const text = await response.text()
    if (location !== null) next = { url: new URL(location, next.url) }
    else if (response.ok && text.includes('<form'))
      next = { url: next.url, form: new URLSearchParams(sub === null ? { cancel: 'yes' } : { sub }) }
    else throw new Error(`the identity provider answered ${response.status} at ${next.url.pathname}: ${text}`)
  }
  throw new Error('the identity provider sends the browser in circles')
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
}
