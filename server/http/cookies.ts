import { type SetCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { loginMinutes } from '../../contract/limits.ts'

/**
 * The cookies of the service. Scripts cannot read them, and none travels in clear. The prefixes make browsers reject a
 * cookie of that name from another host of the domain, or from an unencrypted page (RFC 6265bis, section 4.1.3).
 */
const cookies = {
  session: { name: 'service_session', path: '/', sameSite: 'strict' },
  refresh: { name: '__Secure-service_refresh', path: '/api/v1/auth', sameSite: 'strict' },
  /** Lax, because the browser returns with it from the identity provider, which is another site. */
  login: { name: '__Host-service_login', path: '/', sameSite: 'lax' },
} as const satisfies Record<string, Pick<SetCookie, 'name' | 'path' | 'sameSite'>>

export type CookieKind = keyof typeof cookies

/**
 * Returns the value of a cookie, or undefined without one. A repeated cookie is cleared and refused with
 * `authentication-failed`: browsers send the genuine one beside one that was planted from another host or path, and
 * they cannot be distinguished.
 */
export function readCookie(request: FastifyRequest, reply: FastifyReply, kind: CookieKind): string | undefined {
  const { name } = cookies[kind]
  const values = valuesOf(request.headers.cookie, name)
  if (values.length > 1) {
    clearCookie(reply, kind)
    throw new DomainError('authentication-failed', `The cookie ${name} was sent twice. It is cleared: sign in again.`)
  }
  return values[0] || undefined
}

/**
 * Returns the value of a cookie that the request has exactly once, without side effects: for pages, which only read.
 */
export function peekCookie(request: FastifyRequest, kind: CookieKind): string | undefined {
  const [value, ...others] = valuesOf(request.headers.cookie, cookies[kind].name)
  return others.length > 0 ? undefined : value || undefined
}

/** Returns whether the request has a non-empty cookie of that kind, once or more. */
export function hasCookie(request: FastifyRequest, kind: CookieKind): boolean {
  return valuesOf(request.headers.cookie, cookies[kind].name).some((value) => value !== '')
}

/** Sets the cookie of a session until the session ends. */
export function setSessionCookie(
  reply: FastifyReply,
  opened: { sessionToken: string; expiresAtMs: number },
  nowMs: number = Date.now(),
): void {
  setCookie(reply, 'session', opened.sessionToken, (opened.expiresAtMs - nowMs) / 1000)
}

/** Sets the cookie that refresh tokens of the session need, until the session ends. */
export function setRefreshCookie(
  reply: FastifyReply,
  value: string,
  expiresAtMs: number,
  nowMs: number = Date.now(),
): void {
  setCookie(reply, 'refresh', value, (expiresAtMs - nowMs) / 1000)
}

/** Sets the cookie of a started login, for ten minutes. */
export function setLoginCookie(reply: FastifyReply, value: string): void {
  setCookie(reply, 'login', value, loginMinutes * 60)
}

export function clearCookie(reply: FastifyReply, kind: CookieKind): void {
  setCookie(reply, kind, '', 0)
}

/** Clears the cookies of a session; a login that has started in another tab continues. */
export function clearSignInCookies(reply: FastifyReply): void {
  clearCookie(reply, 'session')
  clearCookie(reply, 'refresh')
}

function setCookie(reply: FastifyReply, kind: CookieKind, value: string, seconds: number): void {
  const { name } = cookies[kind]
  // All values are base64url and dots, which need no encoding; any other value is an error.
  if (!/^[\w.~-]*$/.test(value)) throw new Error(`the value for the cookie ${name} is not base64url`)
  const maxAge = Math.max(0, Math.ceil(seconds))
  const line = stringifySetCookie({ ...cookies[kind], value, maxAge, httpOnly: true, secure: true })
  // One line for each name (RFC 6265, section 4.1.1): the last value counts.
  const others = [reply.getHeader('set-cookie') ?? []].flat().filter((each) => !String(each).startsWith(`${name}=`))
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', [...others.map(String), line])
}

/**
 * Returns the values of a cookie. Node joins several Cookie headers into one. The library's parser keeps the first of a
 * name, so it cannot count.
 */
function valuesOf(header: string | undefined, name: string): string[] {
  if (header === undefined) return []
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
