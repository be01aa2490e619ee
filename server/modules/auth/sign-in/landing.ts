import { isWebPath } from '../../../../contract/web-paths.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'

/** The landing page after a sign-in without a valid return path: the web UI. */
export const defaultReturnPath = '/'

const pathLengthMax = 2000

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

/**
 * Returns a path of this service to land at after sign-in, from text that anyone may write into a link. Returns the
 * default page for anything but a plain path: another host (`//evil.example`, `/\evil.example`), another scheme, or
 * control characters, which browsers drop before they parse.
 */
export function returnPath(text: string | undefined): string {
  if (text === undefined || text.length > pathLengthMax) return defaultReturnPath
  if (!text.startsWith('/') || /[\\\p{Cc}]/u.test(text)) return defaultReturnPath
  const here = 'https://here.invalid'
  const url = URL.parse(text, here)
  if (url?.origin !== here) return defaultReturnPath
  // Browsers resolve the dots: `/..//evil.example` becomes the address of another host.
  const path = `${url.pathname}${url.search}${url.hash}`
  return path.startsWith('//') || path.length > pathLengthMax * 3 ? defaultReturnPath : path
}

/** Returns the path from `?return_to=`. */
export function askedReturnPath({ query }: { query: unknown }): string {
  const { return_to: text } = query as { return_to?: unknown }
  return returnPath(typeof text === 'string' ? text : undefined)
}
