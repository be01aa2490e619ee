import { addPlatform, addProvider, invoked, person, send } from '../inbound/inbound-lab.ts'
import type { TestHub } from '../support/hub.ts'

/** All that sends SQL about what comes in signed. */
export async function walkInbound(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const [platform, provider] = [await addPlatform(hub, tenant), await addProvider(hub, tenant)]
  const about = { user_name: `inbound-${tenant}`, external_id: `inbound-${tenant}` }
  const messages = [
    [platform, invoked()],
    [provider, person('provisioned', about)],
    [provider, person('updated', { ...about, display_name: 'In Bound' })],
    [provider, person('deactivated', { user_name: about.user_name })],
  ] as const
  for (const [connection, message] of [...messages, ...messages]) {
    const { status, text } = await send(hub, connection, message)
    if (status !== 200) throw new Error(text)
  }
  for (const path of [
    `/api/v1/llm/connectors/${platform.connectionId}:rotate-inbound-secret`,
    '/api/v1/identity/scim:rotate-inbound-secret',
  ]) {
    const { status, text } = await hub.call(tenant, 'POST', path)
    if (status !== 200) throw new Error(text)
  }
  for (const chore of hub.modules.inbound.chores) {
    await hub.test.database.withTenant(tenant, (tx) => chore.run(tx))
  }
  await hub.call(tenant, 'DELETE', `/api/v1/llm/connectors/${platform.connectionId}`)
  await hub.call(tenant, 'DELETE', '/api/v1/identity/scim/configure')
}
