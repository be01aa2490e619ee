import { callbackPath, client, kim, openBrowser, ssoPath } from '../auth/oidc-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'

/** All that sends SQL about identity providers and logins at them. The Hub must be let out to 127.0.0.1. */
export async function walkSso(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const redirect_uris = [`${hub.baseUrl}${callbackPath}`]
  const provider = await startIdentityProvider({ clients: [{ ...client, redirect_uris }], accounts: [kim] })
  try {
    const body = { issuer: provider.issuer, ...client }
    for (const change of [{ client_id: 'first' }, {}, { allowed_email_domains: ['acme.example'] }]) {
      const settings = { ...body, allowed_email_domains: ['other.example'], ...change }
      expectStatus(await hub.call(tenant, 'POST', ssoPath, { body: settings }), 200)
    }
    expectStatus(await hub.call(tenant, 'GET', ssoPath), 200)
    for (let round = 0; round < 2; round += 1) expectStatus(await openBrowser(hub, provider).signIn(tenant, 'kim'), 303)
  } finally {
    await provider.stop()
  }
}

function expectStatus({ status, text }: { status: number; text: string }, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} ${text}`)
}
