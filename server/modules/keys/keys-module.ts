import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { namesTag } from '../../http/request-headers.ts'
import { addRoute, rawJson } from '../../http/route.ts'
import { openToEveryOrigin } from '../../http/security-headers.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { ProvenanceKeyDocument, TokenKeySet } from './keys-schemas.ts'
import { ProvenanceKeyRing } from './provenance-keys-service.ts'
import { PublishedKeys } from './published-keys-service.ts'
import { TokenKeyRing } from './token-keys-service.ts'

/**
 * Opens the key ring, with the keys of access tokens and of cosignatures. Creates the first token key on an empty
 * database.
 *
 * @throws StartupError if the stored keys were encrypted under another master key
 */
export async function createKeysModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'log'> & { signingDelayMs?: number | undefined },
) {
  const tokens = await TokenKeyRing.open(deps)
  const published = new PublishedKeys(deps.database)
  return {
    provenance: new ProvenanceKeyRing(deps),
    tokens,
    routes: (app: FastifyInstance) => addKeysRoutes(app, tokens, published),
    close: () => tokens.close(),
  }
}

const Unchanged = Type.Null({ description: 'Not modified since the entity tag of `If-None-Match`' })

function addKeysRoutes(app: FastifyInstance, tokens: TokenKeyRing, published: PublishedKeys): void {
  addRoute(
    app,
    'getTokenKeys',
    {
      description: 'The public keys that access tokens of the Hub verify with (RFC 7517).',
      response: { 200: TokenKeySet },
    },
    async (_request, reply) => {
      openToEveryOrigin(reply, 60)
      return tokens.publicKeySet()
    },
  )

  addRoute(
    app,
    'getProvenanceKeys',
    {
      description:
        "Returns every public key that has ever sealed records, by the name of the tenant's log. Records, " +
        'manifests and certificates verify with these keys.',
      headers: Type.Object({
        'if-none-match': Type.Optional(
          Type.String({ description: 'ETag of an earlier response; the response is 304 if nothing has changed' }),
        ),
      }),
      response: { 200: ProvenanceKeyDocument, 304: Unchanged },
    },
    async (request, reply) => {
      const { json, etag } = await published.document()
      openToEveryOrigin(reply, 60)
      reply.header('etag', etag)
      if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return rawJson(reply, json)
    },
  )
}
