import ipaddr from 'ipaddr.js'
import { type Address, reachedAddress, readAddress } from './public-address.ts'

/** The addresses that the operator allows although they are not public (HUB_OUTBOUND_ALLOW). */
export interface AllowList {
  /** Returns whether the host is allowed by name, on every port. */
  hasHost(host: string): boolean
  hasAddress(address: Address): boolean
  /** Whether entries are addresses or networks. */
  readonly hasNetworks: boolean
}

/**
 * Parses the allow-list.
 *
 * @param entries host names, addresses and networks in CIDR notation, in lower case
 */
export function readAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>()
  const networks: [Address, number][] = []
  for (const entry of entries) {
    const [text = '', bits] = entry.split('/')
    const address = readAddress(text)
    if (address === undefined) hosts.add(entry)
    else networks.push([address, bits === undefined ? address.toByteArray().length * 8 : Number(bits)])
  }
  const holds = (address: Address) => networks.some((network) => isInside(address, network))
  return {
    hasHost: (host) => hosts.has(host),
    hasAddress: (address) => holds(address) || holds(reachedAddress(address)),
    hasNetworks: networks.length > 0,
  }
}

function isInside(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits)
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}
