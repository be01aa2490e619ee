import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * An address or a network in CIDR notation (RFC 4632, RFC 4291 section 2.3) in the one form that is kept: CIDR, without
 * host bits, IPv4 where it is an IPv4-mapped IPv6 address. Undefined for anything else.
 */
export function normaliseNetwork(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  // Stricter than the library, which takes `10.1` and `0x7f.1`. A zone (`%eth0`) means nothing on another machine.
  const version = address.includes('%') ? 0 : isIP(address)
  const width = version === 4 ? 32 : 128
  const prefix = bits === undefined ? width : Number(bits)
  if (version === 0 || rest.length > 0 || (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) || prefix > width) {
    return undefined
  }
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && prefix >= 96) {
    return networkOf(parsed.toIPv4Address(), prefix - 96)
  }
  return networkOf(parsed, prefix)
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  const cidr = `${address.toString()}/${prefix}`
  const family = address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6
  return `${family.networkAddressFromCIDR(cidr).toString()}/${prefix}`
}

/**
 * Tells whether an address lies in one of the networks, which {@link normaliseNetwork} has made. What is not an address
 * lies in none. An IPv4 address counts as one however it is written.
 */
export function addressFilter(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network) as Network)
  return (address) => {
    if (isIP(address) === 0) return false
    const caller = ipaddr.process(address)
    return parsed.some((network) => network[0].kind() === caller.kind() && caller.match(network))
  }
}
