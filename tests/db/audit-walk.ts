import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import type { TestHub } from '../support/hub.ts'

/** All that sends SQL to audit a tenant's log, with erased records in it. Leaves a seal that waits for its place. */
export async function walkAudit(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const { audit } = createLogAudit({
    database: hub.test.database,
    logs: hub.modules.log.logs,
    keys: hub.modules.keys.provenance,
  })
  await audit(await hub.tenant(tenant), [])
  const body = { record_type: 'artifact', title: 'behind the audit' }
  const { status } = await hub.call(tenant, 'POST', '/api/v1/hub/records', { body })
  if (status !== 201) throw new Error(`no record was written: ${status}`)
}
