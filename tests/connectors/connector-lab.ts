import { setTimeout as delay } from 'node:timers/promises'
import {
  type Answer,
  type CallOptions,
  startHub,
  type TestHub,
  type TestHubOptions,
  type TestTenant,
} from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

export const connectorsPath = '/api/v1/llm/connectors'
export const manifestPath = '/api/v1/skill-entitlement/distribution/manifest'
export const republishPath = '/api/v1/skill-entitlement/distribution:republish'

/** A hub that may call 127.0.0.1. Nothing is published until its publisher starts. */
export function startConnectorHub(options: TestHubOptions = {}): Promise<TestHub> {
  return startHub({ ...options, settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1', ...options.settings } })
}

/** A call that must succeed. */
export async function must(
  hub: TestHub,
  tenant: TestTenant,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await hub.call(tenant, method, path, options)
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

/** Registers a skill and publishes it, granted to nobody. */
export async function publishSkill(
  hub: TestHub,
  tenant: TestTenant,
  skill: { skill_id: string; skill_version?: string; manifest?: object },
): Promise<void> {
  const mayHoldContent = tenant !== 'cmode'
  const { skill_id, skill_version = '1.0.0', manifest = { skill_md: 'Do it.' } } = skill
  const record = { record_type: 'skill_definition', skill_id, skill_version, name: `Skill ${skill_id}` }
  const body = mayHoldContent ? { ...record, manifest } : record
  await must(hub, tenant, 'POST', '/api/v1/hub/records', { body })
  const path = `/api/v1/skill-entitlement/skills/${skill_id}:transition`
  await must(hub, tenant, 'POST', path, { body: { state: 'published' } })
}

export interface PushBody {
  platform: string
  display_name: string
  delivery: string
  publish_url?: string
  credentials?: Record<string, string>
}

export const pushBody = (publish_url: string, change: Partial<PushBody> = {}): PushBody => ({
  platform: 'custom:lab',
  display_name: 'Lab',
  delivery: 'push',
  publish_url,
  credentials: { bearer_token: 'a-secret-of-the-lab' },
  ...change,
})

/** Governance events of a kind about connectors and republications, the oldest first. */
export async function eventsOf(hub: TestHub, tenant: TestTenant, kind: string) {
  const query = `record_type=governance_event&event_kind=${kind}&limit=1000&sort=created_at`
  const { records } = (await must(hub, tenant, 'GET', `/api/v1/hub/records?${query}`)).body
  return records.filter(({ subject }: { subject: string }) => /^(connector|republish):/.test(subject))
}

/** The connector, once its answer satisfies; what it was last is in the error when it never does. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export async function connectorWhen(hub: TestHub, id: string, satisfies: (connector: any) => boolean) {
  for (const endsMs = performance.now() + scaled(30_000); ; await delay(25)) {
    const { body } = await hub.call('acme', 'GET', `${connectorsPath}/${id}`)
    if (satisfies(body)) return body
    if (performance.now() > endsMs) throw new Error(`still ${JSON.stringify(body)}`)
  }
}
