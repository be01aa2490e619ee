import type { Answer, TestHub } from '../support/hub.ts'
import { keepDeliveries } from '../webhooks/stored-deliveries.ts'

const path = '/api/v1/webhooks'
const kind = 'tenant.config_changed'

/** Cases of governance-event-cases.ts: what changes webhooks. Those of an endpoint follow one another. */
export function webhookEventCases(
  call: (method: string, path: string, body?: unknown) => Promise<Answer>,
  secrets: string[],
  hub: () => TestHub,
) {
  let endpoint = ''
  const about = async (done: Promise<Answer>) => {
    const { body } = await done
    if (body.secret) secrets.push(body.secret)
    endpoint = body.webhook_id ?? endpoint
    return `webhook:${endpoint}`
  }
  return {
    createWebhook: {
      run: () => {
        secrets.push('a-secret-in-the-query')
        const url = 'https://hooks.acme.example/hub?token=a-secret-in-the-query'
        return about(call('POST', path, { url, events: ['user.*'] }))
      },
      kind,
      change: 'webhook_added',
    },
    testWebhookAddress: {
      run: async () => {
        secrets.push('a-secret-in-the-path')
        const { body } = await call('POST', `${path}:test`, { url: 'https://hooks.acme.invalid/a-secret-in-the-path' })
        secrets.push(body.secret)
        return 'tenant:acme'
      },
      kind,
      change: 'webhook_address_tested',
      states: 'none' as const,
    },
    testWebhook: {
      run: () => about(call('POST', `${path}/${endpoint}:test`)),
      kind,
      change: 'webhook_tested',
      states: 'none' as const,
    },
    redeliver: {
      run: async () => {
        const [delivery] = await keepDeliveries(hub(), 'acme', endpoint, [{ status: 'dead' }])
        return about(call('POST', `${path}/${endpoint}/deliveries/${delivery}:redeliver`))
      },
      kind,
      change: 'webhook_redelivered',
      states: 'none' as const,
    },
    redeliverDelivery: {
      run: async () => {
        const [delivery] = await keepDeliveries(hub(), 'acme', endpoint, [{ status: 'dead' }])
        return about(call('POST', `${path}/deliveries/${delivery}:redeliver`))
      },
      kind,
      change: 'webhook_redelivered',
      states: 'none' as const,
    },
    redeliverSince: {
      run: async () => {
        await keepDeliveries(hub(), 'acme', endpoint, [{ status: 'dead' }])
        return about(call('POST', `${path}/${endpoint}:redeliver`, { since: '2026-01-01T00:00:00Z' }))
      },
      kind,
      change: 'webhook_redelivered',
      states: 'none' as const,
    },
    updateWebhook: {
      run: () => about(call('PATCH', `${path}/${endpoint}`, { enabled: false })),
      kind,
      change: 'webhook',
    },
    rotateWebhookSecret: {
      run: () => about(call('POST', `${path}/${endpoint}:rotate-secret`)),
      kind,
      change: 'webhook_secret_rotated',
      states: 'after' as const,
    },
    removeWebhook: {
      run: () => about(call('DELETE', `${path}/${endpoint}`)),
      kind,
      change: 'webhook_removed',
    },
  }
}
