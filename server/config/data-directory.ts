import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'

/** The parent of root's default data and binaries. The database's unprivileged user can enter it. */
export const rootStateDirectory = '/var/lib/org-memory-hub'

/**
 * Returns the default data directory of a checkout: `.hub-data` in it. Root gets a directory outside the checkout,
 * because PostgreSQL refuses to run as root and its user may not be able to enter the checkout. An installed package
 * gets a directory that does not depend on where it is, because npm replaces the folder of a package with each version.
 *
 * @param home the home directory of the user
 */
export function defaultDataDirectory(checkout: string, isRoot: boolean, home: string = homedir()): string {
  const isPackage = checkout.split(sep).includes('node_modules')
  if (isRoot) {
    const name = isPackage ? 'package' : createHash('sha256').update(checkout).digest('hex').slice(0, 16)
    return join(rootStateDirectory, name)
  }
  return isPackage ? join(home, '.local', 'share', 'org-memory-hub') : join(checkout, '.hub-data')
}
