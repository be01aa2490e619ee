import { expect, test } from 'vitest'
import { addressIn } from '../../cli/hub-address.ts'
import { UsageError } from '../../cli/output.ts'
import { StartupError } from '../../server/startup-error.ts'

test('an address has a host, and may have a port and a path', () => {
  for (const address of ['https://hub.example.com', 'https://hub.example.com:8443/hub', 'http://127.0.0.1:8080']) {
    expect(addressIn(`${address}/`, 'HUB_URL')).toBe(address)
  }
})

test.each([
  ['hub.example.com', /is not an address/],
  ['ftp://hub.example.com', /is not an address/],
  ['https://hub.example.com/?tenant=acme', /query or fragment/],
  ['https://hub.example.com/#', /query or fragment/],
  ['http://hub.example.com', /in clear/],
])('%s is refused', (address, reason) => {
  expect(() => addressIn(address, 'HUB_URL')).toThrow(StartupError)
  expect(() => addressIn(address, 'HUB_URL')).toThrow(reason)
  expect(() => addressIn(address, 'The address', UsageError)).toThrow(UsageError)
})

test.each(['https://kim:secret1@hub.example.com', 'https://:secret1@hub.example.com', 'ftp://kim:secret1@hub'])(
  '%s is refused, and its password is not repeated',
  (address) => {
    expect(() => addressIn(address, 'HUB_URL')).toThrow('HUB_URL must not contain a user name or password.')
  },
)
