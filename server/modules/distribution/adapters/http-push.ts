import { publishedWithinSeconds } from '../../../../contract/limits.ts'
import { addressStep, TestStepError } from '../../../outbound/connection-test.ts'
import { signatureOf } from '../../../outbound/message-headers.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { Delivery, PlatformAdapter } from '../distribution-types.ts'
import { failStep, failureOf } from '../publish-failure.ts'

/** Sends the manifest to the connector's own address by POST. Any 2xx is a success. */
export function createHttpPush(outbound: Pick<Outbound, 'fetch' | 'resolvedProblemOf'>): PlatformAdapter {
  async function send(delivery: Delivery): Promise<Response> {
    const response = await outbound.fetch(delivery.publishUrl ?? '', {
      method: 'POST',
      headers: headersOf(delivery),
      body: delivery.text,
      signal: delivery.signal,
    })
    if (!response.ok) throw failureOf(response)
    return response
  }

  return {
    timeoutMs: 20_000,
    credentials: ['bearer_token', 'api_key', 'signing_secret'],
    async publish(delivery) {
      await send(delivery)
      return null
    },
    test: (delivery) => [
      addressStep(outbound, delivery.publishUrl ?? '', 'The address of the receiver'),
      [
        'publish',
        async () => {
          const beganMs = performance.now()
          const { status } = await send(delivery).catch(failStep)
          return `The receiver accepted the manifest: ${status}, after ${Math.round(performance.now() - beganMs)} ms.`
        },
      ],
    ],
  }
}

function headersOf({ tenant, connectorId, credentials, text, etag }: Delivery): Record<string, string> {
  const { bearer_token, api_key, signing_secret } = credentials
  return {
    'content-type': 'application/json',
    'user-agent': 'org-memory-hub',
    'x-service-tenant': tenant,
    'x-service-connector-id': connectorId,
    'x-service-manifest-etag': etag,
    ...(bearer_token !== undefined && { authorization: `Bearer ${bearer_token}` }),
    ...(api_key !== undefined && { 'x-api-key': api_key }),
    ...(signing_secret !== undefined && { 'x-service-signature': signatureOf(text, [signing_secret]) }),
  }
}

/** Returns seconds since a connector last fetched its manifest; undefined if it never did. */
export type SecondsSinceFetch = (tenant: string, connectorId: string) => Promise<number | undefined>

/** Handles connectors that fetch the manifest: sends nothing. */
export function createPull(secondsSinceFetch: SecondsSinceFetch): PlatformAdapter {
  const how = 'It must GET its manifest_url at least every 30 seconds as a service account, with If-None-Match.'
  return {
    timeoutMs: 1000,
    credentials: [],
    publish: async () => null,
    test: ({ tenant, connectorId }) => [
      [
        'fetch',
        async () => {
          const seconds = await secondsSinceFetch(tenant, connectorId)
          if (seconds === undefined) throw new TestStepError(`The connector has never fetched its manifest. ${how}`)
          const found = `The connector fetched its manifest ${Math.round(seconds)} seconds ago.`
          if (seconds > publishedWithinSeconds) throw new TestStepError(`${found} ${how}`)
          return found
        },
      ],
    ],
  }
}
