import { callbackPath, client, kim } from '../auth/oidc-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { type PublishReceiver, startPublishReceiver } from '../support/publish-receiver.ts'
import { type FakeScimSource, startScimSource } from '../support/scim-source.ts'
import { operatorToken } from '../tenants/operator-lab.ts'

/** A Hub, and the systems of a company that onboarding connects to it. */
export interface HubWithCompany {
  hub: TestHub
  provider: IdentityProvider
  source: FakeScimSource
  receiver: PublishReceiver
  close(): Promise<void>
}

/** Starts the Hub with an operator token and the publisher of skills, and an identity provider, directory and receiver. */
export async function startHubWithCompany(
  directory: NonNullable<Parameters<typeof startScimSource>[0]>,
): Promise<HubWithCompany> {
  const settings = { HUB_OPERATOR_TOKEN: operatorToken, HUB_OUTBOUND_ALLOW: '127.0.0.1' }
  const hub = await startHub({ settings })
  const [provider, source, receiver] = await Promise.all([
    startIdentityProvider({
      clients: [{ ...client, redirect_uris: [`${hub.baseUrl}${callbackPath}`] }],
      accounts: [kim],
    }),
    startScimSource(directory),
    startPublishReceiver(),
  ])
  const { publisher } = hub.modules.distribution
  publisher.start()
  return {
    ...{ hub, provider, source, receiver },
    async close() {
      await publisher.stop()
      await Promise.all([provider.stop(), source.stop(), receiver.stop()])
      await hub.stop()
    },
  }
}
