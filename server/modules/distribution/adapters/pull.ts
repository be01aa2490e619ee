import { publishedWithinSeconds } from '../../../../contract/limits.ts'
import { TestStepError } from '../../../outbound/connection-test.ts'
import type { PlatformAdapter } from '../platform-adapter-types.ts'

/** Returns seconds since a connector last fetched its manifest; undefined if it never did. */
export type SecondsSinceFetch = (tenant: string, connectorId: string) => Promise<number | undefined>

/** Handles connectors that fetch the manifest: sends nothing. */
export function createPull(secondsSinceFetch: SecondsSinceFetch): PlatformAdapter {
  const how = 'It is to GET its manifest_url at least every 30 seconds as a service account, with If-None-Match.'
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
