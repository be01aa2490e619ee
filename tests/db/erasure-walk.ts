import { createErasureJournal } from '../../server/modules/erasure/erasure-journal.ts'
import type { TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

const records = '/api/v1/hub/records'
const retention = '/api/v1/hub/retention-rules'
const decision = {
  record_type: 'decision',
  decision_id: 'DEC-1',
  decision_subject: 'Renewal',
  decision_outcome: 'approved',
  decision_rationale: 'Usage grew.',
  decision_actor_role: 'lead',
}

/** All that sends SQL when records are purged by a rule, erased, and erased again. */
export async function walkErasure(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const purge = (id: string) => call('DELETE', `${records}/${id}?reason=done`)
  const { erasure } = hub.modules.hub
  const found = await hub.tenant(tenant)

  await call('PUT', retention, { rules: [{ record_type: 'decision', max_days: 1 }] })
  const { record_id: old } = await call('POST', records, decision)
  await erasure.purgeOverdue(found, { asOf: '2999-01-01T00:00:00.000000Z' })
  await call('PUT', retention, { rules: [{ record_type: 'artifact', max_days: 10_000 }] })

  const skill = { record_type: 'skill_definition', skill_id: 'walked', skill_version: '9.9.9', name: 'Walked' }
  const { record_id: definition } = await call('POST', records, skill)
  const telemetry = '/api/v1/telemetry/events'
  const { record_id: folded } = await call('POST', telemetry, event({ user_id: 'user:walked' }))
  await hub.modules.rollups.rollups.settle(tenant)
  const { record_id: waiting } = await call('POST', telemetry, event({ user_id: 'user:walked' }))
  const released = { record_type: 'governance_event', event_kind: 'custom.x' }
  const { record_id: governance } = await call('POST', records, released)
  await call('POST', `${records}/${governance}/legal-hold-releases`, { reason: 'done' })
  const { records: events } = await call('GET', `${records}?event_kind=hub.record_purged&limit=1`)
  await call('POST', `${records}/${events[0].record_id}/legal-hold-releases`, { reason: 'done' })
  const { records: settings } = await call('GET', `${records}?event_kind=tenant.config_changed&limit=1`)
  await call('POST', `${records}/${settings[0].record_id}/legal-hold-releases`, { reason: 'done' })
  const going = [definition, folded, waiting, governance, events[0].record_id, settings[0].record_id]
  for (const id of going) await purge(id)
  await erasure.run(found, { asOf: '2999-01-01T00:00:00.000000Z' })
  await hub.modules.rollups.rollups.rebuild(tenant)
  // For whoever looks for open days and deltas after this.
  await call('POST', telemetry, event())
  await hub.modules.rollups.rollups.fold(tenant)
  await call('POST', telemetry, event())
  await call('GET', `${records}/${old}/deletion-certificate`)
  await hub.call(tenant, 'GET', `${records}/${events[0].record_id}/deletion-certificate`)
  await erasure.reapply(found, createErasureJournal(hub.modules.storage).read(tenant))
}
