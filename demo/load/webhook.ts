import type { DemoApi } from '../demo-api.ts'
import { failingSkill } from '../skills.ts'
import { listAll } from './lists.ts'

/** RFC 2606 reserves the name: deliveries are retried and then fail, as with an endpoint that is down. */
const url = 'https://hooks.demo.example/hub'

/**
 * Adds the endpoint of the demo. Runs before the telemetry, so that the failures of one skill become deliveries: tens,
 * not thousands.
 */
export async function addWebhook(api: DemoApi): Promise<void> {
  const path = '/api/v1/webhooks'
  const present = await listAll<{ url: string }>(api, path)
  if (present.some((endpoint) => endpoint.url === url)) return
  await api.post(path, {
    body: {
      url,
      description: 'On-call channel of Support',
      events: ['skill.invocation_failed', 'governance.hub.legal_hold_applied', 'governance.hub.record_purged'],
      filters: { skill_ids: [failingSkill.id] },
    },
  })
}
