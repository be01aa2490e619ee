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

/** The way out for every address that a tenant sets: one place (decisions section 7). */
export interface Outbound {
  /**
   * What is wrong with a URL before anything connects: scheme, userinfo, an address literal that is not public.
   * Completes a sentence that begins with the URL. Undefined when nothing is.
   */
  problemOf(url: string): string | undefined
  /** {@link problemOf}, and what is wrong with the addresses that its host resolves to now. */
  resolvedProblemOf(url: string): Promise<string | undefined>
  /**
   * `fetch` that connects to public or allowed addresses only, takes a redirect for a failure, and answers with the
   * whole body or not at all: within 10 seconds and 1 MiB. Takes no Request object. Throws {@link OutboundError}, or
   * the reason of the signal that was passed.
   */
  fetch: typeof globalThis.fetch
  /** For many small messages; connects to the same addresses, and has the same time for the head of the answer. */
  post: Post
  close(): Promise<void>
}

export interface OutboundOptions {
  /** Of all names; those of {@link createNameResolver} when left out. */
  resolve?: Resolve
  /** For all of a call: name, connection, answer and body. */
  timeoutMs?: number
  /** Of a body, after inflation. */
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
