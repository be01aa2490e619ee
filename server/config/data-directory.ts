import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** The parent of root's default data and binaries. The database's unprivileged user can enter it. */
export const rootStateDirectory = '/var/lib/org-memory-hub'

/**
 * Returns the default data directory of a checkout: `.hub-data` in it. Root gets a directory outside the checkout,
 * because PostgreSQL refuses to run as root and its user may not be able to enter the checkout.
 */
export function defaultDataDirectory(checkout: string, isRoot: boolean): string {
  if (!isRoot) return join(checkout, '.hub-data')
  return join(rootStateDirectory, createHash('sha256').update(checkout).digest('hex').slice(0, 16))
}
