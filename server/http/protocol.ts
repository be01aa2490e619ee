import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../contract/domain-error.ts'
import { type BodyKind, bodyBounds, type RateClass } from '../../contract/limits.ts'

/**
 * A protocol of others that is served below one address, with its own media type, errors and description of itself: SCIM.
 * It is in no operations table and no OpenAPI document. Everything before the handler is the same as for operations:
 * request id, host, security headers, limits of bodies, strict JSON, log and metrics.
 */
export interface Protocol {
  /** In metrics, where operations have their id. */
  name: string
  rateClass: RateClass
  /** Of answers; bodies come as this or as application/json. */
  mediaType: string
  /** Names the bounds of a body. */
  body: BodyKind
  /**
   * Looks at the credential before anything of the body is read, counts it by `request.credentialCharges` and sets
   * `request.hubTenant`. Throws DomainError.
   */
  admit(request: FastifyRequest): Promise<void>
  /** The body of an error, and its status where it is another than the problem's. */
  renderError(error: DomainError, request: FastifyRequest): { status: number; body: string }
  handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol
  }
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Adds a protocol at an address and everything below it: what there is, and which methods it takes, the protocol says
 * itself, for who shows no credential is not to learn it.
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

/** As bytes: to text Fastify would add a charset, which such media types do not have. */
export function sendProtocolText(reply: FastifyReply, text: string): FastifyReply {
  return reply.send(Buffer.from(text))
}
