import type { Tenant } from '../../http/caller.ts'

const foundMs = 2_000
/** Milliseconds; short, so that an address set on the command line is available at once. */
const missingMs = 100
const retryMs = 500
const patienceMs = 250

/**
 * Finds tenants with an address of their own by the Host header. Reads all of them at once, so that strangers who
 * invent hosts cause at most ten queries a second. Health requests also use it, so a failed or slow read falls back to
 * the previous result.
 *
 * @param read returns these tenants
 */
export function createTenantHosts(
  read: () => Promise<readonly Tenant[]>,
): (host: string) => Promise<Tenant | undefined> {
  let known = new Map<string, Tenant>()
  let readAtMs = Number.NEGATIVE_INFINITY
  let failedAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function refresh(): Promise<void> {
    try {
      const tenants = await read()
      known = new Map(tenants.flatMap((tenant) => hostsOf(tenant.baseUrl).map((host) => [host, tenant] as const)))
      readAtMs = performance.now()
    } catch {
      failedAtMs = performance.now()
    } finally {
      reading = undefined
    }
  }

  return async (host) => {
    const name = host.toLowerCase()
    const nowMs = performance.now()
    const due = nowMs - readAtMs >= (known.has(name) ? foundMs : missingMs)
    if (due && nowMs - failedAtMs >= retryMs) {
      reading ??= refresh()
      await atMost(reading, patienceMs)
    }
    return known.get(name)
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

/** Returns the host of an address, also with the port if that is the scheme's default. */
function hostsOf(baseUrl: string): string[] {
  const { host, port, protocol } = new URL(baseUrl)
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host]
}
