/** The reason why a directory gave no usable response. */
export interface ScimSourceProblem {
  /**
   * `token`: the directory rejects the bearer token; `too-large`: fewer entries at a time may work; `answer`: not a
   * SCIM list.
   */
  kind: 'blocked' | 'unreachable' | 'token' | 'status' | 'too-large' | 'answer'
  status?: number
  /** Description for people with the request, without secrets and without the content of the response. */
  detail: string
  /** Whether the problem may be transient. */
  isPassing: boolean
  /** Milliseconds to wait, if the directory requests it. */
  retryAfterMs?: number
}

export type ScimSourceResponse<T> = { ok: true; value: T } | { ok: false; problem: ScimSourceProblem }

/** A list response (RFC 7644, section 3.4.2). Only its envelope is validated. */
export interface ScimPage {
  resources: readonly unknown[]
  /** Size of the whole response. */
  bytes: number
  /** Undefined if the directory sends no total or an invalid one. */
  totalResults: number | undefined
}

export interface ScimPageQuery {
  /** Index of the first entry, from 1. */
  startIndex: number
  count: number
  /** Requests groups without their members. */
  withoutMembers?: boolean
}

/** Reads a company's SCIM 2.0 directory in responses of bounded size. */
export interface ScimSource {
  page(resource: 'Users' | 'Groups', query: ScimPageQuery, signal?: AbortSignal): Promise<ScimSourceResponse<ScimPage>>
  /** Fetches one group with its members; null if there is no group with that id. */
  group(id: string, signal?: AbortSignal): Promise<ScimSourceResponse<unknown>>
}

export interface ScimSources {
  /** @param baseUrl without a trailing slash */
  open(baseUrl: string, bearerToken: string): ScimSource
}
