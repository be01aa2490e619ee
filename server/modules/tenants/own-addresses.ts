import type { Tenant } from '../../http/caller.ts'

const freshMs = 2_000
const retryMs = 500
const patienceMs = 250

/**
 * The tenants with an address of their own, by what a Host header says for it. All of them are read at once,
 * so that strangers who make up hosts cause no queries. Every request asks, those about the service's health too: so
 * what was known before is answered when a reading fails or does not come to an end.
 *
 * @param read these tenants
 */
export function createOwnAddresses(
  read: () => Promise<readonly Tenant[]>,
): (host: string) => Promise<Tenant | undefined> {
  let known = new Map<string, Tenant>()
  let staleAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function refresh(): Promise<void> {
    try {
      const tenants = await read()
      known = new Map(tenants.flatMap((tenant) => hostsOf(tenant.baseUrl).map((host) => [host, tenant] as const)))
      staleAtMs = performance.now() + freshMs
    } catch {
      staleAtMs = performance.now() + retryMs
    } finally {
      reading = undefined
    }
  }

  return async (host) => {
    if (performance.now() >= staleAtMs) {
      reading ??= refresh()
      await atMost(reading, patienceMs)
    }
    return known.get(host.toLowerCase())
  }
}

async function atMost(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, patience])
  clearTimeout(timer)
}

/** The host of an address, also with the port where that is the scheme's own. */
function hostsOf(baseUrl: string): string[] {
  const { host, port, protocol } = new URL(baseUrl)
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host]
}
