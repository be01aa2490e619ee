import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { ContentDestruction } from '../erasure/erasure-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { addCmekRoutes } from './cmek-routes.ts'
import type { TenantSecrets } from './cmek-types.ts'
import { type ContentKeys, createContentKeys } from './content-keys.ts'
import { contentKeys } from './content-keys-store.ts'
import { createTenantSecrets } from './customer-key-secrets.ts'
import type { CustomerKeys } from './customer-keys-service.ts'
import type { DestroyedKeysList } from './destroyed-keys-list.ts'
import { type ContentsDestroyed, createKeyDestruction, type KeyDestruction } from './destruction-service.ts'
import { activeOf } from './key-state.ts'
import { createMasterKeySecrets } from './master-key-secrets.ts'
import { type KeyProviders, openKeyProviders } from './providers/key-providers.ts'

/** Encrypts and decrypts content. The record store needs this before any other part can be created. */
export interface ContentEncryption {
  providers: KeyProviders
  keyNames: Config['keyNames']
  contentKeys: ContentKeys
  secrets: TenantSecrets
}

export interface CmekModule {
  destruction: KeyDestruction
  /** Returns the state of the key of a tenant in Mode B. */
  keyState(tx: TenantTx): Promise<'active' | 'missing' | 'destroyed'>
  routes(app: FastifyInstance): void
}

/** Creates the first of two parts. From now on transactions of the database decrypt content. */
export function createContentEncryption(deps: {
  config: Pick<Config, 'dataDir' | 'aws' | 'keyringDir' | 'vault' | 'keyNames'>
  database: Database
  masterKey: Buffer
  log: DatabaseLog
}): ContentEncryption {
  const { config, database, masterKey } = deps
  const providers = openKeyProviders(config, masterKey)
  const contentKeys = createContentKeys({ ...deps, providers })
  database.useContents(contentKeys)
  const secrets = createTenantSecrets({ masterKeySecrets: createMasterKeySecrets(masterKey), contentKeys })
  return { providers, keyNames: config.keyNames, contentKeys, secrets }
}

export function createCmekModule(
  deps: ContentEncryption & {
    database: Database
    governance: GovernanceLog
    customerKeys: CustomerKeys
    content: ContentDestruction
    /** Parts of other modules, in the order of their locks. */
    destroyed: readonly ContentsDestroyed[]
    destroyedKeys: DestroyedKeysList
  },
): CmekModule {
  const destruction = createKeyDestruction(deps)
  return {
    destruction,
    async keyState(tx) {
      const rows = await contentKeys(tx)
      if (activeOf(rows)) return 'active'
      return rows.length > 0 ? 'destroyed' : 'missing'
    },
    routes: (app) => addCmekRoutes(app, { customerKeys: deps.customerKeys, destruction }),
  }
}
