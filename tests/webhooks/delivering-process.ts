import { DomainError } from '../../contract/domain-error.ts'
import { loadConfig } from '../../server/config.ts'
import { createModules } from '../../server/create-modules.ts'
import type { Database } from '../../server/db/database.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { listenForOutbox } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import {
  WebhookDispatcher,
  type WebhookDispatcherOptions,
} from '../../server/modules/webhooks/worker/webhook-dispatcher.ts'
import { createOutbound, type OutboundOptions } from '../../server/outbound/outbound.ts'
import type { TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

/** In place of 15 s. */
const answerMs = scaled(1000)

/** Another process of the service that does nothing but deliver; it lives in this one. */
export interface DeliveringProcess {
  wake(tenantId: string): void
  /** What it warned of. */
  warnings: readonly string[]
  /** No transaction of it begins, and none commits, for so long. */
  setDatabaseAway(isAway: boolean): void
  /** As kill -9: nothing of it reaches the database from now on, whatever it has sent. */
  crash(): void
  /** As SIGTERM; returns once it has stopped. After a crash, once nothing of it is left. */
  stop(): Promise<void>
}

export async function startDeliveringProcess(
  hub: TestHub,
  settings: Readonly<Record<string, string>> = {},
  options: WebhookDispatcherOptions = {},
  way: OutboundOptions = {},
): Promise<DeliveringProcess> {
  const { targets, masterKey } = hub.test
  const pools = openPools({ ...targets, size: 4 })
  const life: Life = { isOver: false, isAway: false }
  const warnings: string[] = []
  const config = loadConfig({ HUB_DATA_DIR: hub.dataDir, HUB_OUTBOUND_ALLOW: '127.0.0.1', ...settings })
  const warn = (_: unknown, message: string) => void warnings.push(message)
  const log = { info: () => {}, warn, error: () => {} }
  const database = mortal(pools, life)
  const modules = await createModules({ ...{ config, masterKey, log, database }, baseUrl: () => hub.baseUrl })
  const outbound = createOutbound(config, { timeoutMs: answerMs, ...way })
  const { directory } = modules.tenants
  const worker = new WebhookDispatcher(
    {
      ...{ database, outbound, log },
      endpoints: modules.webhooks.endpoints,
      findTenant: (slug) => directory.find(slug),
      listTenants: () => directory.slugs(),
      hear: (heard) => listenForOutbox(database, heard),
      clock: modules.recordStore.clock,
    },
    // A test does not wait as long as a failing receiver is left alone.
    { paceMsMax: 1, leftAloneMsMax: 100, ...options },
  )
  worker.start()
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= worker
      .stop()
      .then(() => Promise.all([modules.close(), outbound.close()]))
      .then(() => pools.close())
    return stopped
  }
  return {
    wake: (tenantId) => worker.wake(tenantId),
    warnings,
    setDatabaseAway: (isAway) => {
      life.isAway = isAway
    },
    crash: () => {
      life.isOver = true
      void stop()
    },
    stop,
  }
}

interface Life {
  isOver: boolean
  /** The database, from here. */
  isAway: boolean
}

/** Once its life is over, or the database is away, no transaction begins any more, and none commits. */
function mortal(database: Database, life: Life): Database {
  const live = () => {
    if (life.isAway) throw new DomainError('hub-unavailable', 'The database is away.')
    if (life.isOver) throw new DomainError('hub-unavailable', 'The process is dead.')
  }
  const lastingOnlyInLife =
    <Tx, T>(work: (tx: Tx) => Promise<T>) =>
    async (tx: Tx): Promise<T> => {
      live()
      const done = await work(tx)
      live()
      return done
    }
  return {
    ...database,
    withTenant: async (tenantId, work, mode) => {
      live()
      return database.withTenant(tenantId, lastingOnlyInLife(work), mode)
    },
    withRegistry: async (work) => {
      live()
      return database.withRegistry(lastingOnlyInLife(work))
    },
    ingest: async (tenantId, steps) => {
      live()
      return database.ingest(tenantId, steps)
    },
    listen: (channel, wake) => database.listen(channel, (payload) => !life.isOver && wake(payload)),
  }
}
