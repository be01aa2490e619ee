import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { addKeysRoutes } from './keys-routes.ts'
import type { ProvenanceKeyAudit, ProvenanceKeyMaker, ProvenanceKeySuccession, ProvenanceKeys } from './keys-types.ts'
import { createProvenanceKeys } from './provenance-keys-service.ts'
import { createPublishedKeys } from './published-keys-service.ts'
import { openTokenKeyRing, type TokenKeyRing } from './token-keys-service.ts'

export interface KeysModule {
  provenance: ProvenanceKeys & ProvenanceKeyMaker & ProvenanceKeySuccession & ProvenanceKeyAudit
  tokens: TokenKeyRing
  routes(app: FastifyInstance): void
  close(): Promise<void>
}

/**
 * Opens the key ring, with the keys of access tokens and of cosignatures. Creates the first token key on an empty
 * database.
 *
 * @throws StartupError if the stored keys were encrypted under another master key
 */
export async function createKeysModule(deps: {
  database: Database
  masterKey: Buffer
  log: DatabaseLog
  signingDelayMs?: number | undefined
}): Promise<KeysModule> {
  const tokens = await openTokenKeyRing(deps)
  const published = createPublishedKeys(deps)
  return {
    provenance: createProvenanceKeys(deps),
    tokens,
    routes: (app) => addKeysRoutes(app, tokens, published),
    close: () => tokens.close(),
  }
}
