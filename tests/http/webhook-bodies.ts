/** What operations on webhooks take: good but for the ids. */
export const webhookBodies = {
  createWebhook: { url: 'https://hooks.acme.example/hub', events: ['user.*'], filters: { skill_ids: ['sum-up'] } },
  testWebhookAddress: { url: 'https://hooks.acme.example/hub', format: 'slack' },
  updateWebhook: { enabled: false, thresholds: { latency_ms: 1000 } },
  rotateWebhookSecret: {},
  testWebhook: {},
  redeliver: {},
  redeliverDelivery: {},
  rotateConnectorInboundSecret: {},
  rotateScimInboundSecret: {},
  receiveInbound: { id: 'a', kind: 'user.updated', occurred_at: '2026-01-01T00:00:00Z', data: { user_name: 'x' } },
  redeliverSince: { since: '2026-01-01T00:00:00Z' },
}
