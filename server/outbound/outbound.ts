import type { LookupFunction } from 'node:net'
import {
  Agent,
  buildConnector,
  type RequestInit as UndiciInit,
  type Response as UndiciResponse,
  fetch as undiciFetch,
} from 'undici'
import {
  publishResponseSeconds,
  rosterPullResponseBytesMax,
  rosterPullResponseSeconds,
  webhookResponseSeconds,
} from '../../contract/limits.ts'
import type { Config } from '../config.ts'
import { traceCall } from '../tracing/current-work.ts'
import { AddressGuard, AllowList, blockedError, hostOf } from './address-guard.ts'
import { createPost, type Post } from './guarded-post.ts'
import { createNameResolver, type Resolve } from './name-resolver.ts'
import { describeNetworkError, OutboundError, outboundErrorIn } from './outbound-error.ts'

/** Calls every address that a tenant sets, in one place (decisions section 7). */
export interface Outbound {
  /**
   * Returns the problem of a URL before anything connects: scheme, userinfo, an address literal that is not public. The
   * text completes a sentence that begins with the URL. Undefined without a problem.
   */
  problemOf(url: string): string | undefined
  /** Returns {@link problemOf}, or the problem of the addresses that its host resolves to now. */
  resolvedProblemOf(url: string): Promise<string | undefined>
  /**
   * A `fetch` that connects only to public or allowed addresses, treats a redirect as a failure, and returns the whole
   * body or throws. Limits: 10 seconds and 1 MiB. It accepts no Request object. Throws {@link OutboundError}, or the
   * reason of the passed signal.
   */
  fetch: typeof globalThis.fetch
  /** Sends many small messages; connects to the same addresses, with the same timeout for the head of the response. */
  post: Post
  close(): Promise<void>
}

export interface OutboundOptions {
  /** Resolves all names. Default: {@link createNameResolver}. */
  resolve?: Resolve
  /** Milliseconds for a whole call: name, connection, response and body. */
  timeoutMs?: number
  /** Maximum bytes of a body, after inflation. */
  responseBytesMax?: number
}

export function createOutbound(
  config: Pick<Config, 'environment' | 'outboundAllow'>,
  options: OutboundOptions = {},
): Outbound {
  const allow = new AllowList(config.outboundAllow)
  const { resolve = createNameResolver(allow), timeoutMs = 10_000, responseBytesMax = 1024 * 1024 } = options
  const guard = new AddressGuard(allow, { httpsOnly: config.environment !== 'development' })
  const agent = new Agent({ connect: guardedConnector(guard, resolve, timeoutMs), maxHeaderSize: 16 * 1024 })

  async function guardedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    if (input instanceof Request) throw new TypeError('outbound.fetch takes a URL, not a Request')
    const url = String(input)
    return traceCall(init.method ?? 'GET', url, (added) => send(url, init, added))
  }

  async function send(url: string, init: RequestInit, added: Record<string, string>): Promise<Response> {
    const problem = guard.problemOfUrl(url)
    if (problem !== undefined) throw new OutboundError('blocked', problem)
    const outOfTime = AbortSignal.timeout(timeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, outOfTime]) : outOfTime
    try {
      const answer = await undiciFetch(url, {
        ...(init as unknown as UndiciInit),
        ...(Object.keys(added).length > 0 && { headers: withHeaders(init.headers, added) }),
        redirect: 'manual',
        signal,
        dispatcher: agent,
      })
      return await readBoundedResponse(answer, responseBytesMax)
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason
      if (outOfTime.aborted)
        throw new OutboundError('timeout', `did not respond within ${timeoutMs / 1000} s`, { cause: error })
      throw outboundErrorIn(error) ?? new OutboundError('unreachable', describeNetworkError(error), { cause: error })
    }
  }

  return {
    problemOf: (url) => guard.problemOfUrl(url),
    async resolvedProblemOf(url) {
      const problem = guard.problemOfUrl(url)
      if (problem !== undefined) return problem
      const host = hostOf(new URL(url))
      try {
        return guard.problemOfAddresses(host, await inTime(resolve(host), timeoutMs))
      } catch (error) {
        return describeNetworkError(error)
      }
    },
    fetch: guardedFetch as typeof globalThis.fetch,
    post: createPost({ agent, guard, timeoutMs }),
    close: () => agent.close(),
  }
}

function withHeaders(headers: RequestInit['headers'], added: Record<string, string>): Record<string, string> {
  return { ...Object.fromEntries(new Headers(headers)), ...added }
}

function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: 'EAI_AGAIN' })), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const redirects = new Set([301, 302, 303, 307, 308])
/** Statuses without a body (Fetch standard, "null body status"); `Response` accepts none for them. */
const withoutBody = new Set([204, 205, 304])

/**
 * Returns the response with its whole body in memory. Throws OutboundError for a redirect, and for more than
 * `bytesMax`.
 */
export async function readBoundedResponse(answer: UndiciResponse, bytesMax: number): Promise<Response> {
  if (redirects.has(answer.status)) {
    await answer.body?.cancel()
    throw new OutboundError('redirect', `responded with a redirect (${answer.status}), which the Hub does not follow`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream, which closes the connection.
    if (bytes > bytesMax) throw new OutboundError('too-large', `responded with more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  const headers = new Headers([...answer.headers])
  // The body is already inflated.
  headers.delete('content-encoding')
  headers.delete('content-length')
  const body = withoutBody.has(answer.status) ? null : Buffer.concat(chunks)
  return new Response(body, { status: answer.status, headers })
}

/** Creates clients that share one name resolver. Each has the timeout and response size that its receivers need. */
export function createOutboundClients(config: Pick<Config, 'environment' | 'outboundAllow'>) {
  const resolve = createNameResolver(new AllowList(config.outboundAllow))
  const clients = {
    /** For receivers with short responses and little delay. */
    common: createOutbound(config, { resolve }),
    /** For a company's directory: its pages take longer, and are larger, than other responses. */
    directory: createOutbound(config, {
      resolve,
      timeoutMs: rosterPullResponseSeconds * 1000,
      responseBytesMax: rosterPullResponseBytesMax,
    }),
    publishing: createOutbound(config, { resolve, timeoutMs: publishResponseSeconds * 1000 }),
    webhooks: createOutbound(config, { resolve, timeoutMs: webhookResponseSeconds * 1000 }),
  }
  const close = async () => {
    await Promise.all(Object.values(clients).map((client) => client.close()))
  }
  return { ...clients, close }
}

/**
 * Opens connections to addresses that the guard allows. The check runs between resolving and connecting, so the checked
 * address is the one that is connected to, even if the name resolves to another a moment later.
 */
export function guardedConnector(guard: AddressGuard, resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    const checked = async () => {
      const addresses = await resolve(hostname)
      const refused = blockedError(guard.problemOfAddresses(hostname.toLowerCase().replace(/\.$/, ''), addresses))
      if (refused) throw refused
      return addresses
    }
    checked().then(
      (addresses) => {
        const [first] = addresses
        if (options.all) callback(null, addresses)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    )
  }
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false })
  return (options, callback) => {
    // Node does not resolve a literal, so the lookup never sees it.
    const refused = blockedError(guard.problemOfLiteral(options.hostname))
    if (refused) callback(refused, null)
    else connect(options, callback)
  }
}
