import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { TenantTx } from '../../db/database.ts'
import { addRoute, emptyBody } from '../../http/route.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { DestroyBody, DestroyedResponse, RotatedResponse } from './cmek-schemas.ts'
import { ContentKeys } from './content-keys.ts'
import { contentKeys } from './content-keys-store.ts'
import type { CustomerKeys } from './customer-keys-service.ts'
import { KeyDestruction, type KeyDestructionDeps } from './destruction-service.ts'
import { activeOf } from './key-state.ts'
import { openKeyProviders } from './providers/key-providers.ts'
import { createTenantSecrets } from './tenant-secrets.ts'

/**
 * Creates the first of two parts, which encrypts and decrypts content. The record store needs it before any other part
 * can be created. From now on transactions of the database decrypt content.
 */
export function createContentEncryption(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'log'> & {
    config: Pick<Config, 'dataDir' | 'aws' | 'keyringDir' | 'vault' | 'keyNames'>
  },
) {
  const { config, database, masterKey, log } = deps
  const providers = openKeyProviders(config, masterKey)
  const contentKeys = new ContentKeys({ database, providers, log })
  database.useContents(contentKeys)
  return { providers, keyNames: config.keyNames, contentKeys, secrets: createTenantSecrets(masterKey, contentKeys) }
}

export function createCmekModule(deps: KeyDestructionDeps & { customerKeys: CustomerKeys }) {
  const destruction = new KeyDestruction(deps)
  return {
    destruction,
    /** Returns the state of the key of a tenant in Mode B. */
    async keyState(tx: TenantTx): Promise<'active' | 'missing' | 'destroyed'> {
      const rows = await contentKeys(tx)
      if (activeOf(rows)) return 'active'
      return rows.length > 0 ? 'destroyed' : 'missing'
    },
    routes: (app: FastifyInstance) => addCmekRoutes(app, deps.customerKeys, destruction),
  }
}

function addCmekRoutes(app: FastifyInstance, customerKeys: CustomerKeys, destruction: KeyDestruction): void {
  addRoute(
    app,
    'rotateContentKey',
    {
      description:
        'Creates a new content key for new content, and rewraps the former keys under the newest version of the ' +
        'customer key. Stored content is not encrypted again.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RotatedResponse },
      problems: ['hub-not-provisioned', 'concurrent-modification'],
    },
    async (request) => customerKeys.rotate(request.caller),
  )

  addRoute(
    app,
    'destroyContentKeys',
    {
      description:
        'Permanently deletes every content key of the tenant. Content encrypted with them can no longer be ' +
        'decrypted; hashes, seals and log remain and verify. It cannot be undone. Refused while a legal hold or a ' +
        'minimum retention is in force. Provisioning the tenant again creates a new key for new content.',
      body: DestroyBody,
      response: { 200: DestroyedResponse },
      problems: ['hub-not-provisioned', 'legal-hold', 'retention'],
    },
    async (request) => destruction.destroy(request.caller, request.body),
  )
}
