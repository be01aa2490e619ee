import type { TestHub } from '../support/hub.ts'

const records = '/api/v1/hub/records'
const decision = {
  ...{ record_type: 'decision', decision_id: 'D', decision_subject: 's', decision_outcome: 'o' },
  ...{ decision_rationale: 'r', decision_actor_role: 'lead' },
}

/** All that sends SQL when others are told of events and people, and when what they are told is forgotten. */
export async function walkOutbox(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const { outbox, chores, keyDestruction } = hub.modules.webhooks
  const { database } = hub.test
  const events = ['user.*', 'governance.*', 'skill.*']
  await call('POST', '/api/v1/webhooks', { url: 'https://hooks.example/told', events })
  await call('POST', '/api/v1/roster/users', { email: `told@${tenant}.example` })
  await call('POST', records, { record_type: 'governance_event', event_kind: 'custom.told' })

  const output = { record_type: 'output', skill_id: 'sum-up', user_id: 'user:told' }
  const { record_id: going } = await call('POST', records, output)
  const { record_id: staying } = await call('POST', records, decision)
  const message = (recordId: string) => ({
    ...{ kind: 'skill.invocation_failed', occurredAt: '2026-11-22T00:00:00.000000Z', data: {}, recordId },
  })
  await database.withTenant(tenant, async (tx) => {
    await outbox.add(tx, [message(going), message(staying)])
    await outbox.add(tx, [message(going)])
  })
  await database.ingest(tenant, [outbox.step(tenant, [message(going)])])
  await call('DELETE', `${records}/${going}?reason=done`)
  await hub.modules.hub.erasure.run(await hub.tenant(tenant), { asOf: '2999-01-01T00:00:00.000000Z' })
  await database.withTenant(tenant, async (tx) => {
    const service = { ...message(staying), kind: 'governance.tenant.config_changed' }
    await outbox.add(tx, [message(staying), service])
    await outbox.add(tx, [message(staying)])
    await keyDestruction.lock(tx)
    await keyDestruction.forget(tx)
  })
  for (const chore of chores) await database.withTenant(tenant, (tx) => chore.run(tx))
}
