import { Agent, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici'
import type { Config } from '../config.ts'
import { createAddressGuard, hostOf } from './address-guard.ts'
import { readAllowList } from './allow-list.ts'
import { readBoundedResponse } from './bounded-response.ts'
import { guardedConnector } from './guarded-connector.ts'
import { createPost, type Post } from './guarded-post.ts'
import { createNameResolver, type Resolve } from './name-resolver.ts'
import { describeNetworkError } from './network-errors.ts'
import { OutboundError, outboundErrorIn } from './outbound-error.ts'

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
  answerBytesMax?: number
}

export function createOutbound(
  config: Pick<Config, 'environment' | 'outboundAllow'>,
  options: OutboundOptions = {},
): Outbound {
  const allow = readAllowList(config.outboundAllow)
  const { resolve = createNameResolver(allow), timeoutMs = 10_000, answerBytesMax = 1024 * 1024 } = options
  const guard = createAddressGuard(allow, { httpsOnly: config.environment !== 'development' })
  const agent = new Agent({ connect: guardedConnector(guard, resolve, timeoutMs), maxHeaderSize: 16 * 1024 })

  async function guardedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    if (input instanceof Request) throw new TypeError('outbound.fetch takes a URL, not a Request')
    const url = String(input)
    const problem = guard.problemOfUrl(url)
    if (problem !== undefined) throw new OutboundError('blocked', problem)
    const outOfTime = AbortSignal.timeout(timeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, outOfTime]) : outOfTime
    try {
      const answer = await undiciFetch(url, {
        ...(init as unknown as UndiciInit),
        redirect: 'manual',
        signal,
        dispatcher: agent,
      })
      return await readBoundedResponse(answer, answerBytesMax)
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason
      if (outOfTime.aborted)
        throw new OutboundError('timeout', `did not answer within ${timeoutMs / 1000} s`, { cause: error })
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

function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: 'EAI_AGAIN' })), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
