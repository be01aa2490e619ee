/** Where a sign-in lands that names no place, or a bad one: the web UI. */
export const defaultReturnPath = '/'
const pathLengthMax = 2000

/**
 * A place of this service to land at after signing in, from what anyone may write into a link. What is not plainly a
 * path of our own is the default page: another host (`//evil.example`, `/\evil.example`), another scheme, control
 * characters, which browsers drop before they look.
 */
export function returnPath(text: string | undefined): string {
  if (text === undefined || text.length > pathLengthMax) return defaultReturnPath
  if (!text.startsWith('/') || /[\\\p{Cc}]/u.test(text)) return defaultReturnPath
  const here = 'https://here.invalid'
  const url = URL.parse(text, here)
  if (url?.origin !== here) return defaultReturnPath
  // As the browser reads it: `/..//evil.example` becomes another host's address once its dots are gone.
  const path = `${url.pathname}${url.search}${url.hash}`
  return path.startsWith('//') || path.length > pathLengthMax * 3 ? defaultReturnPath : path
}

/** That of `?return_to=`. */
export function askedReturnPath({ query }: { query: unknown }): string {
  const { return_to: text } = query as { return_to?: unknown }
  return returnPath(typeof text === 'string' ? text : undefined)
}
