import { rosterPullPageBytesMax, rosterPullResponseBytesMax } from '../../../../contract/limits.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { type OutboundFailure, outboundErrorIn } from '../../../outbound/outbound-error.ts'
import type {
  ScimPage,
  ScimPageQuery,
  ScimSourceProblem,
  ScimSourceResponse,
  ScimSources,
} from './scim-source-types.ts'

const passingStatuses = new Set([408, 425, 429])
const passingFailures: ReadonlySet<OutboundFailure> = new Set(['timeout', 'unreachable'])
const accept = 'application/scim+json, application/json;q=0.9'

/** Reads directories through the guarded outbound client. */
export function createScimSources(outbound: Pick<Outbound, 'fetch'>): ScimSources {
  async function get(
    baseUrl: string,
    path: string,
    token: string,
    signal: AbortSignal | undefined,
    bytesMax = rosterPullResponseBytesMax,
  ): Promise<ScimSourceResponse<{ json: unknown; bytes: number }>> {
    // Without the group id, which may be the address of a mailing list.
    const asked = `GET ${path.replace(/\?.*/, '').replace(/^\/Groups\/.*/, '/Groups/{id}')}`
    let answer: Response
    try {
      const headers = { accept, authorization: `Bearer ${token}` }
      answer = await outbound.fetch(`${baseUrl}${path}`, { headers, ...(signal && { signal }) })
    } catch (error) {
      const failed = outboundErrorIn(error)
      if (!failed) throw error
      const detail = `${asked}: the address ${failed.message}.`
      if (failed.failure === 'too-large') return refused({ kind: 'too-large', detail, isPassing: false })
      const kind = failed.failure === 'blocked' || failed.failure === 'redirect' ? 'blocked' : 'unreachable'
      return refused({ kind, detail, isPassing: passingFailures.has(failed.failure) })
    }
    if (answer.status !== 200) return refused(problemOfStatus(asked, answer))
    const body = await answer.arrayBuffer()
    if (body.byteLength > bytesMax) {
      return refused({
        kind: 'too-large',
        detail: `${asked}: the response has more than ${bytesMax} bytes.`,
        isPassing: false,
      })
    }
    try {
      return { ok: true, value: { json: JSON.parse(new TextDecoder().decode(body)), bytes: body.byteLength } }
    } catch {
      // Possibly a proxy's page during maintenance of the directory.
      return refused({ kind: 'answer', detail: `${asked}: the response is not JSON.`, isPassing: true })
    }
  }

  return {
    open: (baseUrl, token) => ({
      async page(resource, query, signal) {
        const answer = await get(baseUrl, `/${resource}?${parameters(query)}`, token, signal, rosterPullPageBytesMax)
        return answer.ok ? readPage(`GET /${resource}`, answer.value.json, answer.value.bytes) : answer
      },
      async group(id, signal) {
        const answer = await get(baseUrl, `/Groups/${encodeURIComponent(id)}`, token, signal)
        const isGone = !answer.ok && answer.problem.status === 404
        if (isGone) return { ok: true, value: null }
        return answer.ok ? { ok: true, value: answer.value.json } : answer
      },
    }),
  }
}

function parameters({ startIndex, count, withoutMembers }: ScimPageQuery): URLSearchParams {
  return new URLSearchParams({
    startIndex: String(startIndex),
    count: String(count),
    ...(withoutMembers && { excludedAttributes: 'members' }),
  })
}

function readPage(asked: string, answer: unknown, bytes: number): ScimSourceResponse<ScimPage> {
  const { Resources: resources, totalResults } = (answer ?? {}) as { Resources?: unknown; totalResults?: unknown }
  const total = typeof totalResults === 'string' && /^\d{1,9}$/.test(totalResults) ? Number(totalResults) : totalResults
  const isCount = typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 && total < 2 ** 31
  // An empty result may omit the list (RFC 7644, section 3.4.2).
  const list = resources === undefined && total === 0 ? [] : resources
  if (!Array.isArray(list)) {
    const detail = `${asked}: the response has no list \`Resources\`, which a SCIM 2.0 list response requires.`
    return refused({ kind: 'answer', detail, isPassing: false })
  }
  return { ok: true, value: { resources: list, bytes, totalResults: isCount ? total : undefined } }
}

function problemOfStatus(asked: string, answer: Response): ScimSourceProblem {
  const { status } = answer
  const isPassing = passingStatuses.has(status) || status >= 500
  const retryAfterMs = isPassing ? readRetryAfter(answer.headers.get('retry-after')) : undefined
  const words =
    status === 401 || status === 403
      ? `the directory rejects the bearer token (${status})`
      : status === 404
        ? 'the directory does not know this address (404): base_url must be that of its SCIM 2.0 service'
        : status === 429
          ? 'the directory limits the request rate (429)'
          : `the directory responded ${status}, not 200`
  return {
    kind: status === 401 || status === 403 ? 'token' : 'status',
    status,
    detail: `${asked}: ${words}.`,
    isPassing,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Reads seconds or a date (RFC 9110, section 10.2.3), as milliseconds from now. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

function refused(problem: ScimSourceProblem): { ok: false; problem: ScimSourceProblem } {
  return { ok: false, problem }
}
