/** Why a directory gave no usable answer. */
export interface ScimSourceProblem {
  /** `token`: it refuses the bearer token; `too-large`: fewer entries at a time may do; `answer`: it is no SCIM list. */
  kind: 'blocked' | 'unreachable' | 'token' | 'status' | 'too-large' | 'answer'
  status?: number
  /** Words for people, with what was asked; no secret, no content of the answer. */
  detail: string
  /** Whether it may be gone in a moment. */
  isPassing: boolean
  /** What the directory asks for. */
  retryAfterMs?: number
}

export type ScimSourceAnswer<T> = { ok: true; value: T } | { ok: false; problem: ScimSourceProblem }

/** A list response of RFC 7644, section 3.4.2, of which nothing but the shape of the envelope is known. */
export interface ScimPage {
  resources: readonly unknown[]
  /** Of the whole answer. */
  bytes: number
  /** Undefined where the directory does not say, or says something that is no number. */
  totalResults: number | undefined
}

export interface ScimPageQuery {
  /** From 1. */
  startIndex: number
  count: number
  /** Asks for groups without their members. */
  withoutMembers?: boolean
}

/** A company's directory that speaks SCIM 2.0, as the Hub reads it: never more than a bounded answer at a time. */
export interface ScimSource {
  page(resource: 'Users' | 'Groups', query: ScimPageQuery, signal?: AbortSignal): Promise<ScimSourceAnswer<ScimPage>>
  /** One group with its members; null when there is none of the id. */
  group(id: string, signal?: AbortSignal): Promise<ScimSourceAnswer<unknown>>
}

export interface ScimSources {
  /** @param baseUrl without a trailing slash */
  open(baseUrl: string, bearerToken: string): ScimSource
}
