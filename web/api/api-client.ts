import createFetchClient, { type Middleware } from 'openapi-fetch'
import createQueryHooks from 'openapi-react-query'
import { apiBaseUrl } from './api-base-url.ts'
import type { operations, paths } from './openapi.d.ts'
import { HubUnreachable, problemOf } from './problem.ts'
import { accessToken, forgetToken } from './session.ts'

/** The body of an operation's success response, by operationId: `ApiResponse<'getTenant'>`. */
export type ApiResponse<Id extends keyof operations> = operations[Id] extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends { content: { 'application/json': infer Body } }
        ? Body
        : never
    }[keyof Responses]
  : never

/** The query parameters of an operation. */
export type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>

/** The JSON body of an operation's request. */
export type Body<Id extends keyof operations> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Sent } }
}
  ? Sent
  : never

let tenant: string | undefined

/**
 * Sets the tenant of all calls: every call for a tenant's data names the tenant (interface section 4). The tenant is
 * known once there is an access token.
 */
export function callAsTenant(slug: string): void {
  tenant = slug
}

const scheme = 'Bearer '
const asTheUser: Middleware = {
  async onRequest({ request }) {
    request.headers.set('authorization', `${scheme}${await accessToken()}`)
    if (tenant) request.headers.set('x-service-tenant', tenant)
    return request
  },
  async onResponse({ request, response }) {
    if (response.ok) return
    if (response.status === 401) forgetToken(request.headers.get('authorization')?.slice(scheme.length) ?? '')
    throw await problemOf(response)
  },
  onError({ error }) {
    return error instanceof TypeError ? new HubUnreachable(error) : undefined
  },
}

/**
 * The typed client of the Hub: `hub.GET('/api/v1/hub/records', { params: { query } })` resolves to `{ data }`.
 *
 * @throws HubProblem for every error response, HubUnreachable without a response
 */
export const hub = createFetchClient<paths>({ baseUrl: apiBaseUrl, credentials: 'same-origin' })
hub.use(asTheUser)

/** The client as hooks of TanStack Query: `api.useQuery('get', path, init)`, `api.useMutation('post', path)`. */
export const api = createQueryHooks(hub)
