const itemName = 'hub-recent-pages'
const pagesMax = 8

interface RecentPages {
  /** The tenant and the user. */
  whose: string
  /** Paths only: queries may hold words of a search. */
  paths: string[]
}

/** Returns the paths of the pages that this user opened last in this tenant, the latest first. */
export function recentPages(whose: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(itemName) ?? 'null')
    return isRecentPages(stored) && stored.whose === whose ? stored.paths.slice(0, pagesMax) : []
  } catch {
    return []
  }
}

/** Remembers that the user opened a page. The pages of another user or tenant are dropped. */
export function rememberPage(whose: string, path: string): void {
  const paths = [path, ...recentPages(whose).filter((each) => each !== path)].slice(0, pagesMax)
  try {
    localStorage.setItem(itemName, JSON.stringify({ whose, paths } satisfies RecentPages))
  } catch {
    // Storage is switched off or full; the list is a convenience.
  }
}

/** Forgets the pages when the user signs out. */
export function forgetPages(): void {
  try {
    localStorage.removeItem(itemName)
  } catch {
    // Storage is switched off: nothing was remembered.
  }
}

function isRecentPages(stored: unknown): stored is RecentPages {
  if (typeof stored !== 'object' || stored === null) return false
  const { whose, paths } = stored as Partial<RecentPages>
  return typeof whose === 'string' && Array.isArray(paths) && paths.every((path) => typeof path === 'string')
}
