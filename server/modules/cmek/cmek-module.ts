import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { addCmekRoutes } from './cmek-routes.ts'
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
