import { notify } from '../api/notification-cases.ts'
import type { TestHub } from '../support/hub.ts'
import { call } from './walk-call.ts'

const notifications = '/api/v1/notifications'

/** All that sends SQL about notifications. */
export async function walkNotifications(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const record_id = await notify(hub, 'webhook.overflowed', 'webhook:whk_1', {}, tenant)
  await call(hub, tenant, 'GET', notifications)
  await call(hub, tenant, 'POST', `${notifications}:read`, { body: { record_id } })
  await call(hub, tenant, 'GET', notifications)
}
