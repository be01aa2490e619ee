import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../contract/domain-error.ts'
import { type BodyKind, bodyBounds, type RateClass } from '../../contract/limits.ts'
import type { Access } from '../../contract/operations.ts'

/**
 * A protocol by others below one address, with its own media type, errors and self-description: SCIM, OTLP. It is in
 * no operations table and no OpenAPI document. Everything before the handler is the same as for operations: request id,
 * host, security headers, limits of bodies, strict JSON, log and metrics.
 */
export interface Protocol {
  /** The name in metrics, instead of an operation id. */
  name: string
  rateClass: RateClass
  /** The media type of responses unless they name another; bodies have this type or application/json. */
  mediaType: string
  /** The name of the bounds of a body. */
  body: BodyKind
  /** The format of a body; default: json. */
  bodyFormat?: 'json' | 'raw'
  /**
   * The scopes of a bearer token that the server checks as for operations. Only callers with HTTP Basic then reach
   * `admit`. Their wrong secrets are charged as at the token endpoint.
   */
  access?: Access & { kind: 'token' }
  /**
   * Checks the credential before the body is read, counts it by `request.credentialCharges` and sets
   * `request.hubTenant`. Throws DomainError.
   */
  admit(request: FastifyRequest): Promise<void>
  /** Returns the body of an error, and its status, which may differ from the problem's. */
  renderError(error: DomainError, request: FastifyRequest): ProtocolError
  handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

export interface ProtocolError {
  status: number
  body: string | Uint8Array
  mediaType?: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol
  }
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Adds a protocol at an address and everything below it. The protocol itself decides which addresses and methods exist,
 * because a caller without a credential must not learn it.
 */
export function addProtocol(app: FastifyInstance, address: string, protocol: Protocol): void {
  for (const url of [address, `${address}/*`]) {
    app.route({
      method: methods,
      url,
      bodyLimit: bodyBounds[protocol.body].bytes,
      config: { protocol },
      handler: (request, reply) => protocol.handle(request, reply),
    })
  }
}

/** Sends bytes, and text as bytes: Fastify would add a charset, which such media types do not have. */
export function sendProtocolText(reply: FastifyReply, body: string | Uint8Array): FastifyReply {
  return reply.send(
    typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length),
  )
}

/** Returns whether the server itself checks the bearer token of a request to a protocol. */
export function isByToken(protocol: Protocol | undefined, request: FastifyRequest): boolean {
  return protocol?.access !== undefined && !/^basic /i.test(request.headers.authorization ?? '')
}
