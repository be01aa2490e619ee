import { BlockList, isIP } from 'node:net'

/** @param networks in CIDR notation; a part that is none matches no address */
export function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const bitsMax = family === 'ipv6' ? 128 : 32
    const bits = prefix === undefined ? bitsMax : Number(prefix)
    if (isIP(address) !== 0 && Number.isInteger(bits) && bits <= bitsMax) list.addSubnet(address, bits, family)
  }
  return list
}

/** IPv4 addresses count as such in IPv6 notation too. What is no address is in no network. */
export function isAllowedAddress(networks: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && networks.check(address, version === 6 ? 'ipv6' : 'ipv4')
}
