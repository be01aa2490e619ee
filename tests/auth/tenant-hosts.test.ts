import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTenantHosts } from '../../server/modules/tenants/tenant-hosts.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const tenant = (slug: string, baseUrl: string) => ({
  slug,
  mode: 'C' as const,
  baseUrl,
  hasOwnAddress: true,
  logName: `log/${slug}`,
})
const tenants = [tenant('one', 'https://one.example'), tenant('two', 'http://two.example:8080')]
const slugs = (atHost: ReturnType<typeof createTenantHosts>) => async (host: string) => (await atHost(host))?.slug

test('a host is found in any case, with the scheme’s own port or without', async () => {
  const slugAt = slugs(createTenantHosts(async () => tenants))
  const hosts = ['one.example', 'ONE.example:443', 'two.example:8080', 'one.example:80', 'two.example', '']
  expect(await Promise.all(hosts.map(slugAt))).toEqual(['one', 'one', 'two', undefined, undefined, undefined])
})

test('many requests at once read once, and a new address is known at once, a changed one soon', async () => {
  const read = vi.fn(async () => tenants.slice(0, 1))
  const slugAt = slugs(createTenantHosts(read))
  await Promise.all(Array.from({ length: 50 }, (_, each) => slugAt(`made-up-${each}.example`)))
  expect(read).toHaveBeenCalledTimes(1)
  read.mockResolvedValue(tenants)
  vi.advanceTimersByTime(100)
  expect(await slugAt('two.example:8080')).toBe('two')
  expect(read).toHaveBeenCalledTimes(2)
  read.mockResolvedValue([])
  vi.advanceTimersByTime(1_999)
  expect(await slugAt('two.example:8080')).toBe('two')
  vi.advanceTimersByTime(1)
  expect(await slugAt('two.example:8080')).toBeUndefined()
})

test('a database that fails or never answers leaves what was known, and holds nobody up for long', async () => {
  const read = vi.fn(async () => tenants)
  const slugAt = slugs(createTenantHosts(read))
  expect(await slugAt('one.example')).toBe('one')

  read.mockRejectedValueOnce(new Error('away'))
  vi.advanceTimersByTime(2_000)
  expect(await slugAt('one.example')).toBe('one')

  read.mockImplementation(() => new Promise(() => {}))
  vi.advanceTimersByTime(2_000)
  const answers = Promise.all([slugAt('one.example'), slugAt('two.example:8080')])
  await vi.advanceTimersByTimeAsync(250)
  expect(await answers).toEqual(['one', 'two'])
  expect(read).toHaveBeenCalledTimes(3)
})
