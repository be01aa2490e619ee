import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { DomainError, validationFailed } from '../../contract/domain-error.ts'
import { acceptedTypes } from './accept-header.ts'

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
        `Version ${version.slice(0, 9)} of the API does not exist; 1 is current.`,
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
