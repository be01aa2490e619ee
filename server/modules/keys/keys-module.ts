import type { FastifyInstance } from 'fastify'
import type { ModuleParts } from '../../module-parts.ts'
import { addKeysRoutes } from './keys-routes.ts'
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
