import type { FastifyInstance } from 'fastify'
import { inject as given } from 'vitest'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config.ts'
import { createModules, type Modules } from '../../server/create-modules.ts'
import type { Database, RegistryTx } from '../../server/db/database.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { revocationsChannel } from '../../server/modules/auth/revocation/revocations-store.ts'
import type { TestHub } from '../support/hub.ts'
import { quiet } from './auth-lab.ts'
import { type DatabaseGate, startDatabaseGate } from './database-gate.ts'

/** Another Hub on the database of a first one, as another process would be: with memory and connections of its own. */
export interface SecondHub {
  modules: Modules
  app: FastifyInstance
  database: Database
  /** Between it and its database. */
  gate: DatabaseGate
  /** Status and detail of a request with that token. */
  use(token: string, tenant?: string): Promise<{ status: number; detail: string }>
  stop(): Promise<void>
}

export interface SecondHubOptions {
  /**
   * `never`: its database has no notifications, as behind some poolers. `only`: it finds a revocation by the looks that
   * follow a notification, and by no other.
   */
  notified?: 'never' | 'only'
  signingDelayMs?: number
  settings?: Record<string, string>
  onQuery?: (text: string) => void
}

export async function startSecondHub(first: TestHub, options: SecondHubOptions = {}): Promise<SecondHub> {
  const { notified, settings, onQuery, ...more } = options
  const gate = await startDatabaseGate(given('testCluster').superuser)
  const { app, ingest } = first.test.targets
  const pools = openPools({ app: gate.target(app), ingest: gate.target(ingest), size: 8, onQuery })
  const database = withNotifications(pools, notified)
  const config = { ...loadConfig({ HUB_LIMIT_FACTOR: '1000' }), ...settings }
  const baseUrl = () => first.baseUrl
  const { masterKey } = first.test
  const modules = await createModules({ config, database, masterKey, baseUrl, log: quiet, ...more })
  const server = await createApp(modules, { config, baseUrl, logger: first.app.log })
  return {
    modules,
    app: server,
    database,
    gate,
    async use(token, tenant = 'acme') {
      const { statusCode, body } = await server.inject({
        method: 'GET',
        url: '/api/v1/hub/records?limit=1',
        headers: { host: new URL(first.baseUrl).host, authorization: `Bearer ${token}`, 'x-service-tenant': tenant },
      })
      return { status: statusCode, detail: JSON.parse(body).detail }
    },
    async stop() {
      gate.open()
      await server.close()
      await modules.close()
      await database.close()
      await gate.close()
    },
  }
}

function withNotifications(pools: Database, notified: SecondHubOptions['notified']): Database {
  if (notified === undefined) return pools
  if (notified === 'never') return { ...pools, listen: () => ({ close() {} }) }
  let isNotified = true
  let hasBegun = false
  /** Answers a look that no notification has caused as if nothing had been revoked. */
  const blinded = ({ client }: RegistryTx): RegistryTx['client'] =>
    new Proxy(client, {
      get(target, key) {
        const member = Reflect.get(target, key)
        if (key !== 'query') return typeof member === 'function' ? member.bind(target) : member
        return async (text: string, values: unknown[]) => {
          const isLook = /from hub\.revocations/.test(text)
          const isBlind = isLook && !isNotified
          if (isLook) isNotified = false
          const result = await target.query(text, values)
          return isBlind ? { ...result, rows: [] } : result
        }
      },
    })
  return {
    ...pools,
    withRegistry: (work) => pools.withRegistry((tx) => work({ ...tx, client: blinded(tx) })),
    listen: (channel, wake) =>
      pools.listen(channel, (payload) => {
        // Listening wakes too when it begins, and has missed nothing the first time.
        if (channel === revocationsChannel && (payload !== undefined || hasBegun)) isNotified = true
        if (channel === revocationsChannel) hasBegun = true
        wake(payload)
      }),
  }
}
