import { randomUUIDv7 } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { DomainError, validationFailed } from '../../contract/domain-error.ts'

/** Returns how many times a header was sent. Node joins or drops repeated ones, so this reads the raw list. */
export function countHeader(request: FastifyRequest, lowerCaseName: string): number {
  const { rawHeaders } = request.raw
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count++
  }
  return count
}

const versionedType = /^application\/vnd\.service\.v(\d+)\+json$/

/** Refuses a version of the API that does not exist, regardless of its rank among the accepted ones. */
export function checkVersion(accept: string | undefined): void {
  if (accept === undefined || !/vnd\.service\.v/i.test(accept)) return
  for (const type of acceptedTypes(accept).keys()) {
    const version = versionedType.exec(type)?.[1]
    if (version !== undefined && version !== '1') {
      throw new DomainError(
        'version-not-available',
        `Version ${version.slice(0, 9)} of the API does not exist; the current version is 1.`,
      )
    }
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Refuses a Host that is not this machine. Development has no proxy and no name except those under localhost (RFC
 * 6761). Another name means that a stranger's page had it resolved to this machine (DNS rebinding).
 */
export function checkLoopbackHost(host: string | undefined): void {
  if (host !== undefined && host === lastLoopbackHost) return
  if (!isLoopbackHost(host ?? '')) {
    throw validationFailed([
      { pointer: '/headers/host', detail: 'must be localhost or a loopback address: the Hub runs in development here' },
    ])
  }
  lastLoopbackHost = host
}

/** The last accepted Host: every request checks it, and nearly all have the same. */
let lastLoopbackHost: string | undefined

/**
 * Returns whether a Host header, or the host of an address, is this machine: `localhost`, `127.0.0.1:8080`, `[::1]`.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  const version = isIP(name)
  return version === 0 ? /^(.+\.)?localhost$/.test(name) : loopback.check(name, version === 4 ? 'ipv4' : 'ipv6')
}

/** Requires exactly one Host in HTTP/1.1 (RFC 9112, section 3.2). */
export function checkHost(request: FastifyRequest): void {
  const count = countHeader(request, 'host')
  if (count > 1 || (count === 0 && request.raw.httpVersion === '1.1')) {
    throw validationFailed([{ pointer: '/headers/host', detail: 'must be given exactly once' }])
  }
}

/**
 * Returns the media types that an Accept header names, in lower case, with their weights from 0 to 1 (RFC 9110, section
 * 12.5.1). A type of weight 0 is not acceptable, so it is omitted.
 */
export function acceptedTypes(accept: string | undefined): Map<string, number> {
  const weights = new Map<string, number>()
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    const weight = written === undefined ? 1 : Number(written) || 0
    if (weight > 0) weights.set(type, Math.max(weight, weights.get(type) ?? 0))
  }
  return weights
}

/**
 * Returns the address of the caller, as far as the proxies are trusted. Some proxies add the port, which the caller
 * chooses: with it every connection would count as another caller.
 */
export function callerAddressOf(request: FastifyRequest): string {
  const address = request.ip as string | undefined
  if (address === undefined) return 'gone'
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[([\da-f:.]+)\](:\d+)?$/i.exec(address)?.[1] ?? address
}

/** Finds the tags of a list (RFC 9110, section 5.6.1), without the mark of a weak one. A tag may contain commas. */
const listedTag = /(?:^|,)[ \t]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/g

/**
 * Returns whether `If-None-Match` names the entity tag, or is `*`. The comparison is weak (RFC 9110, section 13.1.2): a
 * strong tag and its weak twin are equal. A header that is no list of tags names none.
 */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(listedTag)].some(([, tag]) => tag === opaque)
}

export const requestIdHeader = 'x-service-request-id'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Returns the client's unchanged UUIDv7 (RFC 9562), or a fresh one if it sent none or another text. */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && uuidV7.test(header)) return header
  return randomUUIDv7()
}
