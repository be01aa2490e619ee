import type { TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

const path = '/api/v1/webhooks'
const costs = { metric: 'cost_usd_per_hour', group_by: 'user', above: 0, window_minutes: 60 }
const slow = { metric: 'latency_p95_ms', group_by: 'skill', above: 1, window_minutes: 30, min_invocations: 1 }

/** All that sends SQL when an alert opens, stays, is listed and closes. Some stay open. */
export async function walkAlerts(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, at: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, at, { body })
    if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.text}`)
    return answer.body
  }
  const add = (rest: object) =>
    call('POST', path, { url: 'https://hooks.example/alerts', events: ['skill.*'], ...rest })
  const { webhook_id: id } = await add({ alerts: [costs, slow] })
  await add({ alerts: [slow], filters: { skill_ids: ['sum-up'], archetype_ids: ['analyst'] } })
  const failure = { success: false, error_code: 'timeout', cost_usd_estimate: 2 }
  await call('POST', '/api/v1/telemetry/events', event({ ...failure, ts: new Date().toISOString() }))
  const { alerts } = hub.modules.webhooks
  const owner = await hub.tenant(tenant)
  await alerts.evaluate(owner)
  await alerts.evaluate(owner)
  const { next_cursor: cursor } = await call('GET', `${path}/${id}/alerts?limit=1`)
  await call('GET', `${path}/${id}/alerts?limit=1&cursor=${cursor}`)
  await call('PATCH', `${path}/${id}`, { alerts: [costs] })
  await alerts.evaluate(owner)
}
