/** First segments of the paths at which the web UI has its pages, besides `/`. What is below them is the UI's. */
export const webPaths = ['records', 'governance', 'exports', 'onboarding', 'webhooks', 'settings', 'usage'] as const

/** Tells whether the web UI has a page at a path, or below its first segment. A query may follow. */
export function isWebPath(path: string): boolean {
  const [, segment = ''] = /^\/([^/?#]*)/.exec(path) ?? []
  return segment === '' || webPaths.some((each) => each === segment)
}
