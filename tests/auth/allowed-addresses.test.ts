import { describe, expect, test } from 'vitest'
import { addressFilter, normaliseNetwork } from '../../server/modules/auth/service-accounts/allowed-addresses.ts'

describe('an entry of a list of addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1/128'],
    ['2001:db8:1:2:3:4:5:6/33', '2001:db8::/33'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3', '10.1.2.3/32'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:0:0/90', '::ffc0:0:0/90'],
  ])('%s is kept as %s', (given, kept) => {
    expect(normaliseNetwork(given)).toBe(kept)
    expect(normaliseNetwork(kept)).toBe(kept)
  })

  test.each([
    '',
    'localhost',
    '10.1',
    '010.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '10.0.0.256',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    ' 10.0.0.1',
    '2001:db8::/129',
    '2001:db8::1::2',
    'fe80::1%eth0',
    '[::1]',
  ])('%j is none', (given) => {
    expect(normaliseNetwork(given)).toBeUndefined()
  })
})

describe('a list', () => {
  const isAllowed = addressFilter(['10.0.0.0/8', '203.0.113.7/32', '2001:db8::/33'])

  test.each(['10.0.0.0', '10.255.255.255', '203.0.113.7', '2001:db8::1', '2001:db8:7fff::', '::ffff:10.9.8.7'])(
    'has %s',
    (address) => {
      expect(isAllowed(address)).toBe(true)
    },
  )

  test.each(['9.255.255.255', '11.0.0.0', '203.0.113.8', '2001:db8:8000::', '::a00:1', '::ffff:11.0.0.1', 'gone', ''])(
    'has not %s',
    (address) => {
      expect(isAllowed(address)).toBe(false)
    },
  )
})
