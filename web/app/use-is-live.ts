import { useEffect } from 'react'
import { api } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'

const itemName = (tenant: string) => `hub-live ${tenant}`

/**
 * Returns whether the tenant received its first telemetry event. It stays so forever, so the browser remembers it, and
 * asks the Hub only until then.
 */
export function useIsLive(): boolean {
  const { tenant, may } = useMe()
  const isRemembered = read(tenant)
  const { data } = api.useQuery(
    'get',
    '/api/v1/observability/tenant-health',
    {},
    { enabled: !isRemembered && may('getTenantHealth'), staleTime: 60_000 },
  )
  const isLive = isRemembered || data?.live_since !== undefined
  useEffect(() => {
    if (isLive && !isRemembered) remember(tenant)
  }, [isLive, isRemembered, tenant])
  return isLive
}

function read(tenant: string): boolean {
  try {
    return localStorage.getItem(itemName(tenant)) !== null
  } catch {
    return false
  }
}

function remember(tenant: string): void {
  try {
    localStorage.setItem(itemName(tenant), '1')
  } catch {
    // Storage is switched off: the Hub is asked again.
  }
}
