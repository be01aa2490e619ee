import type { Server } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import { DomainError } from '../../contract/domain-error.ts'
import type { Config } from '../config.ts'
import { networkOf } from './rate-limits/rate-limit-headers.ts'
import { headersOfEveryResponse } from './security-headers.ts'
import { endWithProblem } from './socket-response.ts'

const retryAfterSeconds = 10
/** Milliseconds between two log lines about refused connections. */
const warnIntervalMs = 60_000

export interface ConnectionGate {
  /**
   * Takes a slot for a connection, or answers it with 429 and closes it.
   *
   * @returns a function that frees the slot once; undefined if the connection was refused
   */
  enter(socket: Socket): (() => void) | undefined
}

/**
 * Bounds the open connections of one address; an IPv6 address counts as its /64. Trusted proxies have no bound: the
 * connections of all callers come from them.
 */
export function createConnectionGate(options: {
  config: Pick<Config, 'connectionsPerAddress' | 'trustedProxies' | 'environment'>
  baseUrl: () => string
  log: { warn(details: object, message: string): void }
  onRefused?: (() => void) | undefined
}): ConnectionGate {
  const { config, baseUrl, log, onRefused = () => {} } = options
  const { connectionsPerAddress: max } = config
  const headers = headersOfEveryResponse(config.environment)
  const proxies = blockListOf(config.trustedProxies)
  const open = new Map<string, number>()
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function refuse(socket: Socket): void {
    onRefused()
    if (performance.now() - warnedAtMs > warnIntervalMs) {
      warnedAtMs = performance.now()
      log.warn({ max }, 'an address has too many connections; is it a proxy that is missing in HUB_TRUSTED_PROXIES?')
    }
    const detail = `Your address already has ${max} open connections. Close some, or wait, then try again.`
    const problem = new DomainError('rate-limited', detail, { retryAfterSeconds })
    socket.on('error', () => {}).resume()
    endWithProblem(socket, problem, { baseUrl: baseUrl(), headers })
  }

  return {
    enter(socket) {
      const { remoteAddress } = socket
      // A closed connection has no address.
      if (remoteAddress === undefined || isIn(proxies, remoteAddress)) return () => {}
      const key = networkOf(remoteAddress)
      const count = open.get(key) ?? 0
      if (count >= max) {
        refuse(socket)
        return undefined
      }
      open.set(key, count + 1)
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        const left = (open.get(key) ?? 1) - 1
        if (left === 0) open.delete(key)
        else open.set(key, left)
      }
    },
  }
}

/** Runs the gate before all other listeners for connections. Call it before the first connection. */
export function guardConnections(server: Server, gate: ConnectionGate): void {
  const others = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const leave = gate.enter(socket)
    if (!leave) return
    socket.once('close', leave)
    for (const other of others) other.call(server, socket)
  })
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
