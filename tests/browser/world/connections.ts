import { setTimeout as delay } from 'node:timers/promises'
import { must, webhooksPath } from '../../api/webhook-cases.ts'
import type { TestHub } from '../../support/hub.ts'
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts'
import { type PublishReceiver, startPublishReceiver } from '../../support/publish-receiver.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts'
import { keepDeliveries } from '../../webhooks/stored-deliveries.ts'
import { roleEmails } from './fixtures.ts'

/** Systems of the company, outside of the Hub. */
export interface Outside {
  webhooks: Receiver
  platform: PublishReceiver
  brokenPlatform: PublishReceiver
  /** Signs in the people of the four roles by the name of their role; on what browsers call another site. */
  provider: IdentityProvider
  stop(): Promise<void>
}

const client = { client_id: 'hub-client', client_secret: 'a secret of the provider' }

/** @param baseUrl of the hub */
export async function startOutside(baseUrl: string): Promise<Outside> {
  const [webhooks, platform, brokenPlatform, provider] = await Promise.all([
    startReceiver(),
    startPublishReceiver(200),
    startPublishReceiver(500),
    startIdentityProvider({
      clients: [{ ...client, redirect_uris: [`${baseUrl}/api/v1/auth/callback`] }],
      accounts: Object.entries(roleEmails).map(([sub, email]) => ({ sub, email, email_verified: true })),
      host: 'localhost',
    }),
  ])
  const stop = async () => {
    await Promise.all([webhooks.stop(), platform.stop(), brokenPlatform.stop(), provider.stop()])
  }
  return { webhooks, platform, brokenPlatform, provider, stop }
}

/** Single sign-on. Connectors: one that is published to, one whose platform fails, one that fetches by itself and never did. */
export async function connect(hub: TestHub, outside: Outside): Promise<void> {
  const sso = { issuer: outside.provider.issuer, ...client, allowed_email_domains: ['acme.example'] }
  await must(hub, 'acme', 'POST', '/api/v1/identity/sso/configure', { body: sso })
  const credentials = { bearer_token: 'a-secret-of-the-platform' }
  for (const body of [
    ...[
      { platform: 'claude', display_name: 'Claude, company-wide', publish_url: outside.platform.url },
      { platform: 'chatgpt', display_name: 'ChatGPT pilot', publish_url: outside.brokenPlatform.url },
    ].map((push) => ({ ...push, delivery: 'push', credentials })),
    { platform: 'custom:handbook-bot', display_name: 'Handbook bot', delivery: 'pull' },
  ])
    await must(hub, 'acme', 'POST', '/api/v1/llm/connectors', { body })
}

export interface WorldWebhooks {
  /** Takes everything. */
  healthy: string
  /** Has deliveries of every status. */
  mixed: string
}

/** Endpoints: one that takes everything, one with deliveries of every status, one that is switched off. */
export async function addWebhooks(hub: TestHub, outside: Outside): Promise<WorldWebhooks> {
  const add = async (path: string, body: object) => {
    const receiving = outside.webhooks.at(path)
    const made = (await must(hub, 'acme', 'POST', webhooksPath, { body: { url: receiving.url, ...body } })).body
    receiving.secrets = [made.secret]
    return made.webhook_id as string
  }
  const healthy = await add('/siem', { events: ['governance.*', 'user.*'], description: 'SIEM' })
  const mixed = await add('/alerts', {
    ...{ events: ['skill.*'], description: 'Pager of the platform team' },
    thresholds: { latency_ms: 30_000, cost_usd: 2 },
    alerts: [{ metric: 'error_rate', group_by: 'skill', above: 0.25, window_minutes: 60, min_invocations: 10 }],
  })
  const off = await add('/old', { events: ['user.*'], description: 'The former directory tool' })
  await must(hub, 'acme', 'PATCH', `${webhooksPath}/${off}`, { body: { enabled: false } })
  const ageOf = (index: number) => new Date(Date.now() - (index + 1) * 3_600_000).toISOString()
  const statuses = ['delivered', 'delivered', 'dead', 'delivered', 'failed', 'delivered', 'dead'] as const
  const kept = Array.from({ length: 40 }, (_, index) => ({
    ...{ status: statuses[index % statuses.length]!, kind: 'skill.invocation_failed', createdAt: ageOf(index) },
    data: { skill_id: 'legal.contract-review', error_code: 'upstream_timeout' },
  }))
  await keepDeliveries(hub, 'acme', mixed, kept.reverse())
  for (let tests = 0; tests < 3; tests++)
    await must(hub, 'acme', 'POST', `${webhooksPath}/${healthy}:test`, { body: {} })
  await delivered(hub, healthy)
  return { healthy, mixed }
}

async function delivered(hub: TestHub, webhookId: string): Promise<void> {
  for (;;) {
    const path = `${webhooksPath}/${webhookId}/deliveries?status=delivered`
    if ((await must(hub, 'acme', 'GET', path)).body.items.length > 0) return
    await delay(25)
  }
}
