import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

const rangeWords: Readonly<Record<string, string>> = {
  unspecified: 'the unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'an address of a carrier’s own network',
  private: 'a private address',
  uniqueLocal: 'a private address',
  '6to4': 'a tunnel address',
  teredo: 'a tunnel address',
}

const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
/**
 * Azure answers virtual machines at this address, inside the range of public addresses. All other clouds use ranges
 * below.
 */
const azureHost = '168.63.129.16'

/**
 * Parses an address literal without brackets; returns undefined for any other text. A zone (`%eth0`) is dropped: only
 * addresses that are not public have one, and the library throws for some that Node accepts (`%eth0.1`).
 */
export function readAddress(text: string): Address | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.parse(text.replace(/%.*/s, ''))
}

/**
 * Returns the address that a packet reaches: the IPv4 address inside an IPv4-mapped one (RFC 4291, section 2.5.5.2) or
 * inside the well-known NAT64 prefix (RFC 6052, section 2.1), through which networks without IPv4 reach public
 * addresses.
 */
export function reachedAddress(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (address.match(nat64)) return new ipaddr.IPv4(address.toByteArray().slice(12))
  return address
}

/**
 * Describes why an address is not public; returns undefined for one that anyone on the Internet could reach (IANA
 * special-purpose address registries). Tunnels with an IPv4 address inside (6to4, Teredo) are not public.
 */
export function rangeProblem(address: Address): string | undefined {
  const reached = reachedAddress(address)
  const range = reached.range()
  if (reached.toString() === azureHost) return 'a metadata address'
  // Outside 2000::/3 no IPv6 address is public, even without a named range.
  const isPublic = range === 'unicast' && (reached instanceof ipaddr.IPv4 || reached.match(globalUnicast))
  return isPublic ? undefined : (rangeWords[range] ?? 'an address of a reserved range')
}
