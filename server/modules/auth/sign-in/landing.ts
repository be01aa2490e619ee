import { isWebPath } from '../../../../contract/web-paths.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'

/**
 * Returns the address to land at after sign-in: a path of the same host, or a page of the web UI if that has another
 * address. Without a tenant, uses the common address.
 *
 * @param path from {@link returnPath}
 */
export type Landing = (tenant: Tenant | undefined, path: string) => string

export function createLanding(deps: {
  directory: Pick<TenantDirectory, 'commonUrl'>
  /** Returns the address of the web UI, without a trailing slash. */
  browserUrl: () => string
}): Landing {
  return (tenant, path) => {
    const commonUrl = deps.directory.commonUrl()
    const baseUrl = tenant?.baseUrl ?? commonUrl
    const browserUrl = baseUrl === commonUrl ? deps.browserUrl() : baseUrl
    // All other paths, such as `/session`, are pages of the service itself.
    return browserUrl === baseUrl || !isWebPath(path) ? path : `${browserUrl}${path}`
  }
}
