import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Returns an address or a network in CIDR notation (RFC 4632, RFC 4291 section 2.3) in its stored form: CIDR without
 * host bits, and IPv4 for an IPv4-mapped IPv6 address. Returns undefined for any other text.
 */
export function normaliseNetwork(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  // Stricter than the library, which accepts `10.1` and `0x7f.1`. A zone (`%eth0`) means nothing on another machine.
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
 * Returns a function that checks whether an address lies in one of the networks made by {@link normaliseNetwork}. Text
 * that is not an address lies in none. An IPv4-mapped address counts as its IPv4 address.
 */
export function addressFilter(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network) as Network)
  return (address) => {
    if (isIP(address) === 0) return false
    const caller = ipaddr.process(address)
    return parsed.some((network) => network[0].kind() === caller.kind() && caller.match(network))
  }
}
