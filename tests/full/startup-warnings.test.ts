import { afterAll, describe, expect, test } from 'vitest'
import { startupWarnings } from '../../server/startup-warnings.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { startHubProcess } from '../support/hub-process.ts'

afterAll(removeDataDirectories)

describe('a Hub that trusts no proxy', () => {
  test.each(['staging', 'production'] as const)('is warned in %s that all behind one are one caller', (environment) => {
    expect(startupWarnings({ environment, role: 'all', trustedProxies: [] })).toEqual([
      { detail: expect.stringContaining('HUB_TRUSTED_PROXIES'), action: expect.stringContaining('proxies') },
    ])
  })

  test('is not warned where nobody comes through a proxy, or one is named', () => {
    const trustedProxies = ['10.0.3.7']
    expect(startupWarnings({ environment: 'development', role: 'all', trustedProxies: [] })).toEqual([])
    expect(startupWarnings({ environment: 'production', role: 'worker', trustedProxies: [] })).toEqual([])
    expect(startupWarnings({ environment: 'production', role: 'api', trustedProxies })).toEqual([])
  })

  test('is warned once, however many processes it has', async () => {
    const env = { HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com', HUB_WORKERS: '2' }
    const hub = await startHubProcess(await freshDataDirectory(), env)
    await hub.stop()
    expect(hub.output().match(/HUB_TRUSTED_PROXIES is not set/g)).toHaveLength(1)
  })
})
