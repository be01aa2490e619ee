import { backoff } from '../../../../contract/backoff.ts'
import type { DemoApi } from '../../../../demo/demo-api.ts'
import { apiBaseUrl } from '../../../api/api-base-url.ts'
import { type HubProblem, HubUnreachable, problemOf } from '../../../api/problem.ts'
import { accessToken, forgetToken } from '../../../api/session.ts'

/** Maximum attempts of a call that the Hub limits or cannot serve at the time. */
const attemptsMax = 6

interface Call {
  method: string
  path: string
  body?: unknown
  idempotencyKey?: string | undefined
  /** The token to send instead of the session's. */
  token?: string
}

/** Returns the calls of the demo loader, made as the signed-in user. */
export function createDemoApi(tenant: string): DemoApi {
  async function call<T>({ method, path, body, idempotencyKey, token }: Call): Promise<T> {
    let isRenewed = false
    for (let attempt = 1; ; attempt += 1) {
      const sent = token ?? (await accessToken())
      const headers: Record<string, string> = {
        authorization: `Bearer ${sent}`,
        ...(token === undefined && { 'x-service-tenant': tenant }),
        ...(body !== undefined && {
          'content-type': token === undefined ? 'application/json' : 'application/scim+json',
        }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      }
      const response = await send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
      if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T
      const problem = await problemOf(response)
      if (problem.status === 401 && token === undefined && !isRenewed) {
        isRenewed = true
        forgetToken(sent)
      } else {
        await waitOrThrow(problem, attempt)
      }
    }
  }
  return {
    get: (path, query = {}) => call({ method: 'GET', path: withQuery(path, query) }),
    post: (path, { body, idempotencyKey } = {}) => call({ method: 'POST', path, body, idempotencyKey }),
    put: (path, body) => call({ method: 'PUT', path, body }),
    delete: (path) => call({ method: 'DELETE', path }),
    scim: (method, path, token, body) => call({ method, path, token, body }),
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${apiBaseUrl}${path}`, init)
  } catch (error) {
    throw new HubUnreachable(error)
  }
}

async function waitOrThrow(problem: HubProblem, attempt: number): Promise<void> {
  if (![429, 503].includes(problem.status) || attempt === attemptsMax) throw problem
  const seconds = problem.retryAfterSeconds ?? backoff(attempt - 1, { first: 0.5 })
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}

function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const present = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present)}`
}
