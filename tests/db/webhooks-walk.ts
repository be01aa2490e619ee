import type { TestHub } from '../support/hub.ts'
import { keepDeliveries } from '../webhooks/stored-deliveries.ts'
import { walkDelivery } from './delivery-walk.ts'

const path = '/api/v1/webhooks'

/** All that sends SQL about webhooks. */
export async function walkWebhooks(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, rest = '', body?: unknown) => {
    const answer = await hub.call(tenant, method, `${path}${rest}`, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}${rest}: ${answer.text}`)
    return answer.body
  }
  await walkEndpoints(hub, tenant, call)
  await walkDeliveries(hub, tenant, call)
  await walkDelivery(hub, tenant)
}

type Call = (method: string, rest?: string, body?: unknown) => Promise<Record<string, string>>

async function walkEndpoints(hub: TestHub, tenant: 'acme' | 'globex', call: Call): Promise<void> {
  const rule = { metric: 'error_rate', group_by: 'skill', above: 0.5, window_minutes: 60 }
  const body = { url: 'https://hooks.example/1', events: ['governance.*'], alerts: [rule] }
  const { webhook_id: id } = await call('POST', '', body)
  const { webhook_id: other } = await call('POST', '', { ...body, url: 'https://hooks.example/2' })
  const { next_cursor: cursor } = await call('GET', '?limit=1')
  await call('GET', `?limit=1&cursor=${cursor}`)
  await call('GET', `/${id}`)
  for (const enabled of [false, true]) await call('PATCH', `/${id}`, { enabled })
  await call('POST', `/${id}:rotate-secret`)
  const { endpoints } = hub.modules.webhooks
  const of = await hub.tenant(tenant)
  await hub.test.database.withTenant(tenant, async (tx) => {
    await endpoints.all(tx)
    await endpoints.secretsOf(tx, of, id!)
    await endpoints.disable(tx, of, other!, 'failing')
  })
  await call('DELETE', `/${other}`)
}

async function walkDeliveries(hub: TestHub, tenant: 'acme' | 'globex', call: Call): Promise<void> {
  const { webhook_id: id } = await call('POST', '', { url: 'https://hooks.example/3', events: ['user.*'] })
  const [dead] = await keepDeliveries(hub, tenant, id!, [{ status: 'dead' }, { status: 'failed' }, {}])
  await call('POST', `/${id}:test`)
  const deliveries = `/${id}/deliveries`
  const times = 'created_at__gte=2026-01-01T00:00:00Z&created_at__lt=2099-01-01T00:00:00Z'
  for (const query of [
    '',
    `${times}&`,
    'status=dead&',
    `status=dead&${times}&`,
    'status=delivered&kind=user.updated&',
  ]) {
    const { next_cursor: cursor } = await call('GET', `${deliveries}?${query}limit=1`)
    if (cursor) await call('GET', `${deliveries}?${query}limit=1&cursor=${cursor}`)
  }
  await call('GET', `${deliveries}/${dead}`)
  await call('POST', `${deliveries}/${dead}:redeliver`)
  await call('POST', `/deliveries/${dead}:redeliver`)
  await call('POST', `/${id}:redeliver`, { since: '2026-01-01T00:00:00Z' })
  await call('POST', `/${id}:redeliver`, { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' })
}
