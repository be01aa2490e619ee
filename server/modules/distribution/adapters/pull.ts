import { publishedWithinSeconds } from '../../../../contract/limits.ts'
import type { PlatformAdapter } from '../platform-adapter-types.ts'

/** Seconds since a connector fetched its manifest last; undefined when it never did. */
export type SecondsSinceFetch = (tenant: string, connectorId: string) => Promise<number | undefined>

/** Of connectors that fetch the manifest: there is nothing to send. */
export function createPull(secondsSinceFetch: SecondsSinceFetch): PlatformAdapter {
  const how = 'It is to GET its manifest_url at least every 30 seconds, with If-None-Match.'
  return {
    timeoutMs: 1000,
    publish: async () => null,
    async test({ tenant, connectorId }) {
      const manifest = { name: 'manifest', ok: true, detail: 'The manifest is there to be fetched.' }
      const seconds = await secondsSinceFetch(tenant, connectorId)
      if (seconds === undefined) {
        return [manifest, { name: 'fetch', ok: false, detail: `The connector has never fetched its manifest. ${how}` }]
      }
      const ok = seconds <= publishedWithinSeconds
      const detail = `The connector fetched its manifest ${Math.round(seconds)} seconds ago.${ok ? '' : ` ${how}`}`
      return [manifest, { name: 'fetch', ok, detail }]
    },
  }
}
