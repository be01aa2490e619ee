import { HubClient } from '@org-memory-hub/sdk'

function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`Set ${name}.`)
  return value
}

let client: HubClient | undefined

/** Returns the client of this process. It is created by the first request: `next build` has no settings. */
export function hub(): HubClient {
  client ??= new HubClient({
    baseUrl: setting('HUB_URL'),
    tenant: setting('HUB_TENANT'),
    clientId: setting('HUB_CLIENT_ID'),
    clientSecret: setting('HUB_CLIENT_SECRET'),
    telemetry: {
      onRejected: (rejected) => console.error('The Hub refused events:', rejected[0]?.reason),
      onError: (error) => console.error('The Hub does not take events yet:', error),
    },
  })
  return client
}
