import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Root's default data and binaries live here, where the database's unprivileged user can reach them. */
export const rootStateDirectory = '/var/lib/org-memory-hub'

/**
 * The data directory of a checkout where none was named: `.hub-data` in it. For root a directory of its own
 * outside, because PostgreSQL refuses to run as root and its user need not be able to enter the checkout.
 */
export function defaultDataDirectory(checkout: string, isRoot: boolean): string {
  if (!isRoot) return join(checkout, '.hub-data')
  return join(rootStateDirectory, createHash('sha256').update(checkout).digest('hex').slice(0, 16))
}
