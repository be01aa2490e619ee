import { clientRedirectLengthMax } from '../../../../contract/limits.ts'

/** Characters of a URI (RFC 3986, appendix A) without `#`: a redirect URI has no fragment. */
const characters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/
/** The start of an address of the caller's own machine. Its port is free (RFC 8252, section 7.3). */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?(?=[/?]|$)/
/** The host of an address: letters, digits and hyphens between dots, or an IPv6 address; then a port or none. */
const authority = /^https?:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?(?=[/?]|$)/i
/** Parameters that the Hub adds to the address. */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description']

/** Returns the fault of an address as a redirect URI, as the end of a sentence; undefined if it may be registered. */
export function redirectFault(uri: string): string | undefined {
  if (uri.length > clientRedirectLengthMax) return `must have at most ${clientRedirectLengthMax} characters`
  if (!characters.test(uri))
    return 'must be an absolute URI without a fragment, spaces or other characters outside of URIs'
  if (!uri.startsWith('https://') && !loopback.test(uri)) {
    return 'must begin with https://, or for a program on the machine of the person with http://127.0.0.1, http://[::1] or http://localhost'
  }
  // The raw text, because a parser drops an empty user name.
  if (/^https?:\/\/[^/?]*@/.test(uri)) return 'must not have a user name or password'
  const url = URL.parse(uri)
  // A host that a browser rewrites, such as %65vil.example or 0x7f.1, is not the one that a person reads.
  if (!url || authority.exec(uri)?.[1]?.toLowerCase() !== url.hostname) {
    return 'must have a host of letters, digits, hyphens and dots, as browsers write it (a name in other letters as xn--…), and a port up to 65535 or none'
  }
  const own = responseParameters.find((name) => url.searchParams.has(name))
  return own === undefined ? undefined : `must not have the parameter ${own}, which the Hub adds`
}

/** Returns whether a requested address is one of the registered ones: the same text, except the port of a loopback one. */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  if (redirectFault(asked) !== undefined) return false
  const portless = withoutLoopbackPort(asked)
  return registered.some((uri) => uri === asked || withoutLoopbackPort(uri) === portless)
}

/** Returns whether the address belongs to the machine of the person. */
export function isLoopback(uri: string): boolean {
  return loopback.test(uri)
}

/** Returns the host of a redirect URI for people: in ASCII, so that look-alike letters show. */
export function hostOf(uri: string): string {
  return new URL(uri).host
}

/** Adds the parameters of a response (RFC 6749, section 4.1.2). */
export function withParameters(uri: string, parameters: Readonly<Record<string, string>>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`
}

function withoutLoopbackPort(uri: string): string {
  return uri.replace(loopback, '$1')
}
