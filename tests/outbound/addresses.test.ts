import { describe, expect, test } from 'vitest'
import { AddressGuard, AllowList } from '../../server/outbound/address-guard.ts'
import { createOutbound, guardedConnector } from '../../server/outbound/outbound.ts'

const production = createOutbound({ environment: 'production', outboundAllow: [] })
const development = createOutbound({ environment: 'development', outboundAllow: [] })

/** Every way to write an address that is not public, as a host of a URL. */
const inside: Record<string, string[]> = {
  loopback: [
    '127.0.0.1',
    '127.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
  ],
  'loopback, odder': [
    '127.0.0.1.',
    '0x7F.0x0.0x0.0x1',
    '１２７.０.０.１',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '127.0.0x0.01',
  ],
  'loopback by name': ['localhost', 'LOCALHOST', 'localhost.', 'hub.localhost'],
  'loopback, version 6': ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]'],
  unspecified: ['0.0.0.0', '0', '0.1.2.3', '[::]'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1', '167772161', '0xc0a80101'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
  'link-local and metadata': ['169.254.169.254', '2852039166', '0xa9fea9fe', '169.254.1', '[fe80::1]', '[febf::1]'],
  'metadata of one cloud': ['168.63.129.16', '[::ffff:168.63.129.16]'],
  'unique local': ['[fc00::1]', '[fd00:ec2::254]', '[fdff:ffff::1]'],
  'IPv4-mapped': ['[::ffff:127.0.0.1]', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::FFFF:10.1.2.3]'],
  'IPv4-compatible': ['[::127.0.0.1]', '[::10.0.0.1]', '[::8.8.8.8]'],
  'IPv4-translated': ['[::ffff:0:127.0.0.1]'],
  NAT64: [
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::1]',
    '[64:ff9b:1::8.8.8.8]',
  ],
  '6to4': ['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2002:808:808::1]'],
  Teredo: ['[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001::1]'],
  multicast: ['224.0.0.1', '239.255.255.250', '[ff02::1]', '[ff0e::1]'],
  broadcast: ['255.255.255.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '[2001:db8::1]', '[3fff::1]'],
  reserved: [
    '192.0.0.192',
    '192.88.99.1',
    '198.18.0.1',
    '240.0.0.1',
    '[100::1]',
    '[5f00::1]',
    '[fec0::1]',
    '[4000::1]',
  ],
}

describe.each(Object.entries(inside))('%s', (_range, hosts) => {
  test.each(hosts)('%s is refused, whatever the scheme, port and environment', (host) => {
    for (const outbound of [production, development]) {
      expect(outbound.problemOf(`https://${host}/x`)).toMatch(/public addresses/)
      expect(outbound.problemOf(`https://${host}:8443/`)).toMatch(/public addresses/)
    }
    expect(development.problemOf(`http://${host}/`)).toMatch(/public addresses/)
    expect(production.problemOf(`http://${host}/`)).toBeDefined()
  })
})

test.each(['127.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254'])(
  'the connection itself refuses the literal %s, which no resolver sees',
  async (hostname) => {
    const guard = new AddressGuard(new AllowList([]), { httpsOnly: false })
    const connect = guardedConnector(guard, async () => [], 1000)
    const failure = await new Promise((resolve) =>
      connect({ hostname, protocol: 'http:', port: '9' }, (...[error]) => resolve(error)),
    )
    expect(failure).toMatchObject({ failure: 'blocked' })
  },
)

test.each([
  '8.8.8.8',
  '134744072',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '[2606:4700::1111]',
  '[2a00:1450:4001::200e]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::8.8.8.8]',
  'login.example.com',
  'xn--bcher-kva.example',
  'bücher.example',
  '127.0.0.1.nip.example',
  'localhost.example.com',
])('%s may be configured', (host) => {
  expect(production.problemOf(`https://${host}/`)).toBeUndefined()
})

test.each([
  [
    'http://login.example.com/',
    /^must start with https:\/\/; http:\/\/ is allowed only for hosts in HUB_OUTBOUND_ALLOW/,
  ],
  ['ftp://login.example.com/', /^must start with https:\/\/$/],
  ['file:///etc/passwd', /https/],
  ['gopher://login.example.com/', /https/],
  ['javascript:alert(1)', /https/],
  ['https://user:secret@login.example.com/', /user name or password/],
  ['https://login.example.com@evil.example/', /user name or password/],
  ['https://:secret@login.example.com/', /user name or password/],
  ['login.example.com', /scheme and a host/],
  ['//login.example.com/', /scheme and a host/],
  ['', /scheme and a host/],
  ['https://', /scheme and a host/],
  ['https://[fe80::1%25eth0]/', /scheme and a host/],
  ['https://256.256.256.256/', /scheme and a host/],
  ['https://1.2.3.4.5/', /scheme and a host/],
  ['https://login.exa\nmple.com/', /blanks/],
  [' https://login.example.com/', /blanks/],
  ['https:\\\\login.example.com\\', /blanks/],
  [`https://login.example.com/${'x'.repeat(2048)}`, /2048 characters/],
])('%j is not an address to call', (url, problem) => {
  expect(production.problemOf(url)).toMatch(problem)
})

test('where http is taken too, the words about other schemes say so', () => {
  expect(development.problemOf('http://login.example.com/')).toBeUndefined()
  expect(development.problemOf('ftp://login.example.com/')).toBe('must start with https:// or http://')
})

describe('what the operator allows', () => {
  const allowing = (...outboundAllow: string[]) => createOutbound({ environment: 'production', outboundAllow })

  test('a host is allowed on every port and by http', () => {
    const outbound = allowing('idp.internal', 'localhost')
    for (const url of [
      'http://idp.internal/',
      'https://IDP.internal:9443/',
      'http://idp.internal.:81/',
      'http://localhost:3000',
    ])
      expect(outbound.problemOf(url)).toBeUndefined()
    expect(outbound.problemOf('http://other.internal/')).toMatch(/https/)
    expect(outbound.problemOf('http://x.idp.internal/')).toMatch(/https/)
    expect(outbound.problemOf('https://127.0.0.1/')).toMatch(/loopback/)
  })

  test('a network is allowed in every notation of its addresses, and nothing beyond', () => {
    const outbound = allowing('10.1.0.0/16', '127.0.0.1', 'fd00::/8', '::1/128')
    for (const host of [
      '10.1.2.3',
      '167838211',
      '[::ffff:10.1.2.3]',
      '[64:ff9b::a01:203]',
      '127.1',
      '[fd12::1]',
      '[::1]',
    ])
      expect(outbound.problemOf(`http://${host}/`)).toBeUndefined()
    for (const host of ['10.2.0.1', '127.0.0.2', '[fc00::1]', '[::2]'])
      expect(outbound.problemOf(`https://${host}/`)).toMatch(/public addresses/)
  })

  test('it lifts neither the ban on userinfo nor that on other schemes', () => {
    const outbound = allowing('idp.internal')
    expect(outbound.problemOf('https://a:b@idp.internal/')).toMatch(/user name/)
    expect(outbound.problemOf('ftp://idp.internal/')).toMatch(/https/)
  })
})
