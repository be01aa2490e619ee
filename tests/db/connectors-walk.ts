import { TargetLeases } from '../../server/delivery/target-leases.ts'
import { leaseTable, rememberState } from '../../server/modules/distribution/deliveries-store.ts'
import type { TestHub } from '../support/hub.ts'
import { answerWith, startPublishReceiver } from '../support/publish-receiver.ts'

const connectors = '/api/v1/llm/connectors'
const distribution = '/api/v1/skill-entitlement/distribution'

/** All that sends SQL about connectors and deliveries. The Hub must be let out to 127.0.0.1. */
export async function walkConnectors(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const receiver = await startPublishReceiver()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const { publisher } = hub.modules.distribution
  publisher.start()
  try {
    const body = { platform: 'claude', delivery: 'push', publish_url: receiver.url }
    const push = await call('POST', connectors, { ...body, display_name: 'push', credentials: { api_key: 'x' } })
    const pull = await call('POST', connectors, { platform: 'slack', display_name: 'pull', delivery: 'pull' })
    await receiver.count(1)
    await call('PATCH', `${connectors}/${push.connector_id}`, { display_name: 'pushed' })
    await call('POST', `${connectors}/${push.connector_id}:rotate-credentials`, { credentials: { api_key: 'y' } })
    for (const { connector_id } of [push, pull]) await call('POST', `${connectors}/${connector_id}:test`)
    const { next_cursor } = await call('GET', `${connectors}?limit=1`)
    await call('GET', `${connectors}?limit=1&cursor=${next_cursor}`)
    await call('GET', `${distribution}/manifest?connector_id=${pull.connector_id}`)
    await hub.test.database.withTenant(tenant, (tx) => hub.modules.connectors.publishStates(tx))
    receiver.behaviour = answerWith(500)
    const { job_id } = await call('POST', `${distribution}:republish`)
    for (let status = ''; status !== 'failed' && status !== 'completed'; ) {
      status = (await call('GET', `${distribution}/republishes/${job_id}`)).status
    }
    await call('GET', `${distribution}:republish`)
    hub.modules.events.publish('skillsChanged', { tenantId: tenant })
    await hub.modules.distribution.settled()
    await call('DELETE', `${connectors}/${push.connector_id}`)
    // What happens only to publishes that take long, or are broken off.
    const claim = { connector_id: pull.connector_id, claimed_by: 'nobody' }
    await hub.test.database.withTenant(tenant, async (tx) => {
      const leases = new TargetLeases(leaseTable, 'nobody', 1)
      await leases.update(tx, [{ id: pull.connector_id, isActive: true, leasedBy: null, leaseMs: null }], 0)
      await rememberState(tx, claim, {})
      await leases.release(tx, [pull.connector_id])
    })
  } finally {
    await publisher.stop()
    await receiver.stop()
  }
}
