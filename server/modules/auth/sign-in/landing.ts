import { isWebPath } from '../../../../contract/web-paths.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'

/**
 * Where the browser goes after signing in: a path of the same host, or the address of a page of the web UI, where that
 * is at another one. Without a tenant, that of tenants without an address of their own.
 *
 * @param path of {@link returnPath}
 */
export type Landing = (tenant: Tenant | undefined, path: string) => string

export function createLanding(deps: {
  directory: Pick<TenantDirectory, 'commonUrl'>
  /** Address of the web UI, without a trailing slash. */
  browserUrl: () => string
}): Landing {
  return (tenant, path) => {
    const commonUrl = deps.directory.commonUrl()
    const baseUrl = tenant?.baseUrl ?? commonUrl
    const browserUrl = baseUrl === commonUrl ? deps.browserUrl() : baseUrl
    // All others, such as `/session`, are pages of the service itself.
    return browserUrl === baseUrl || !isWebPath(path) ? path : `${browserUrl}${path}`
  }
}
