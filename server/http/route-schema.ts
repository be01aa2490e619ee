import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { PointedError } from '../../contract/domain-error.ts'
import type { ProblemSlug } from '../../contract/problems.ts'
import type { Caller } from './caller.ts'

/**
 * Describes the requests and responses of a route as TypeBox schemas, the source of validation, types and the OpenAPI
 * document. Objects of parameters and bodies set `additionalProperties: false`. `params` has a member for each `{name}`
 * of the path; `headers` names, in lower case, the headers of this operation beyond the common ones.
 */
export interface RouteSchema {
  description?: string
  params?: TObject
  querystring?: TObject
  headers?: TObject
  /** The schema of the body. Without it a POST, PUT or PATCH accepts no body, or `{}`. */
  body?: TSchema
  /** Throws for content that the caller may not send, before the schemas check the rest of the request. */
  screenBody?: (caller: Caller, body: unknown) => void
  /**
   * Returns faults that the schema of the body cannot express, to report them together with those of the schemas. It is
   * called only if these find faults, because the handler checks every body that they accept. It gets the body as
   * `ValidParts` (valid-parts.ts), without the parts that failed its schema.
   */
  checkBody?: (body: never, request: FastifyRequest) => PointedError[]
  /**
   * The format of the body; `form` is application/x-www-form-urlencoded and is not validated here. `bytes` is JSON that
   * the handler receives unparsed, to verify it first.
   */
  bodyFormat?: 'json' | 'form' | 'bytes'
  /**
   * States that the schema only describes the body: the handler checks it, because the allowed members depend on more
   * than its shape.
   */
  bodyChecked?: 'by handler'
  /** Whether an absent body stands for `{}`. */
  bodyOptional?: boolean
  /** Bodies by status. `Type.Null()` stands for an empty body. */
  response: Record<number, TSchema>
  /** Headers of the response by status, beyond the common ones, for the OpenAPI document. */
  responseHeaders?: Record<number, Record<string, TSchema>>
  /**
   * The credentials that the operation checks itself, as names of security schemes; `body` stands for a secret there.
   * The operator's token is checked before the handler, as access tokens are.
   */
  credentials?: readonly ('clientBasic' | 'session' | 'refresh' | 'bearer' | 'operator' | 'signature' | 'body')[]
  /** Problems of this operation beyond those of every operation of its kind. */
  problems?: readonly ProblemSlug[]
  /**
   * Whether errors have `error` and `error_description` (RFC 6749, section 5.2), and are plain JSON for clients that
   * request it.
   */
  oauthErrors?: boolean
  /** Makes errors pages for clients that request HTML, because browsers navigate here. */
  htmlErrors?: ErrorPageHints
}

/** The text of an error page besides the error: the consequence for the person, and the next step. */
export interface ErrorPageHints {
  title: string
  next: { path: string; text: string }
}

/** The fields of a form; a repeated one is an array. */
export type FormBody = Record<string, string | string[]>
