import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { PointedError } from '../../contract/domain-error.ts'
import type { ProblemSlug } from '../../contract/problems.ts'
import type { Caller } from './caller.ts'

/**
 * What a route takes and answers, as TypeBox schemas: validation, types and the OpenAPI document come from it.
 * Objects of parameters and bodies say `additionalProperties: false`. `params` has a member for each `{name}` of the
 * path; `headers` names, in lower case, the headers of this operation beyond the common ones.
 */
export interface RouteSchema {
  description?: string
  params?: TObject
  querystring?: TObject
  headers?: TObject
  /** Without it a POST, PUT or PATCH takes no body, or `{}`. */
  body?: TSchema
  /** Throws what the caller may not send, before the schemas look at the rest of the request. */
  screenBody?: (caller: Caller, body: unknown) => void
  /**
   * What the schema of the body cannot say, to be told together with what the schemas say: asked only where these
   * complain, for whatever they let pass is checked by the handler. It gets the body as SoundParts (valid-parts.ts),
   * without what its schema complains about.
   */
  checkBody?: (body: never, request: FastifyRequest) => PointedError[]
  /**
   * How the body is written; `form` is application/x-www-form-urlencoded and is not validated here. `bytes` is JSON that
   * the handler is given as it was received, to verify it before it is read.
   */
  bodyFormat?: 'json' | 'form' | 'bytes'
  /** The schema only describes the body: the handler checks it, because what it may hold depends on more than its shape. */
  bodyChecked?: 'by handler'
  /** An absent body stands for `{}`. */
  bodyOptional?: boolean
  /** Status → body. `Type.Null()` stands for an empty body. */
  response: Record<number, TSchema>
  /** Status → headers of the answer beyond the common ones, for the OpenAPI document. */
  responseHeaders?: Record<number, Record<string, TSchema>>
  /**
   * Ways in where the operation looks at credentials itself: names of security schemes; `body` stands for a secret there.
   * The operator's token is looked at before the handler, as access tokens are.
   */
  credentials?: readonly ('clientBasic' | 'session' | 'refresh' | 'bearer' | 'operator' | 'signature' | 'body')[]
  /** Problems of this operation beyond those that every operation of its kind may answer with. */
  problems?: readonly ProblemSlug[]
  /** Errors carry `error` and `error_description` (RFC 6749, section 5.2) and are plain JSON for clients that ask so. */
  oauthErrors?: boolean
  /** Browsers navigate here, so errors are pages for those who ask for HTML. */
  htmlErrors?: ErrorPageHints
}

/** What a page about an error says besides the error: what came of it for the person, and where to go on. */
export interface ErrorPageHints {
  title: string
  next: { path: string; text: string }
}

/** Fields of a form; one that was sent more than once is an array. */
export type FormBody = Record<string, string | string[]>
