import { TenantNotifier } from '../../server/db/tenant-notifier.ts'
import { createEmptiedLogs } from '../../server/modules/log/checkpoint-sinks/known-logs.ts'
import { arrivalsChannel } from '../../server/modules/log/log-module.ts'
import type { TestHub } from '../support/hub.ts'

const log = '/api/v1/hub/log'
const records = '/api/v1/hub/records'

/** All that sends SQL about a tenant's log. Leaves a seal that waits for its place. */
export async function walkLog(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const decision = async () => (await call('POST', records, { record_type: 'artifact', title: 'Logged' })).record_id
  const superuser = await hub.superuserClient()
  const { tree_size: size } = await call('GET', `${log}/checkpoint`)
  await decision()
  // As a seal from before there was a log.
  await superuser.query('update hub.seal_arrivals set log_leaves = null where tenant_id = $1', [tenant])
  const { tree_size: grown } = await call('GET', `${log}/checkpoint`)
  if (grown <= size) throw new Error('nothing was taken into the log')
  await call('GET', `${log}/consistency?from=1`)
  for (const part of ['proof', 'proof-bundle']) await call('GET', `${records}/${await decision()}/${part}`)
  for (const query of ['', '?limit=1', '?limit=1000']) await call('GET', `${log}/entries${query}`)
  await call('GET', `${log}/entries?after=${await decision()}`)
  await hub.call(tenant, 'GET', `${log}/entries`, { scopes: ['telemetry:read'] })

  const { logs } = hub.modules.log
  await hub.test.database.withTenant(tenant, async (tx) => {
    await logs.leaves(tx, 0, grown)
    await logs.rangeProof(tx, 1, grown - 1, grown)
  })
  const { directory } = hub.modules.tenants
  await directory.logNames()
  await createEmptiedLogs({ database: hub.test.database, directory })()
  const notifier = new TenantNotifier({ database: hub.test.database, channel: arrivalsChannel, pauseMs: 100 })
  notifier.notify(tenant)
  await notifier.settled()
  await decision()
}
