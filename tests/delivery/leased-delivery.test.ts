import { expect, test } from 'vitest'
import { LeasedDelivery, type TenantDelivery } from '../../server/delivery/leased-delivery.ts'
import type { Tenant } from '../../server/http/caller.ts'

const messages = { unavailable: '', failed: '', unlisted: '' }

/** A tenant whose delivery stops when the test says so. */
function startDelivery() {
  const released = Promise.withResolvers<void>()
  const steps: string[] = []
  const state = { isSuspended: false, warnings: 0 }
  const delivery: TenantDelivery = {
    look: async () => {
      steps.push('look')
      return 60_000
    },
    stop: async () => {
      steps.push('stop')
      await released.promise
      steps.push('released')
    },
  }
  const leased = new LeasedDelivery({
    make: () => delivery,
    findTenant: async (slug) => (state.isSuspended ? undefined : ({ slug } as Tenant)),
    listTenants: async () => ['acme'],
    ...{ concurrency: 1, messages },
    log: { warn: () => void state.warnings++, error: () => {} },
  })
  leased.start()
  return { leased, released, steps, state }
}

test('a stop waits for the leases of a tenant that was just suspended', async () => {
  const { leased, released, steps, state } = startDelivery()
  await expect.poll(() => steps).toEqual(['look'])
  state.isSuspended = true
  leased.wake('acme')
  await expect.poll(() => steps).toEqual(['look', 'stop'])
  expect(leased.of('acme')).toBeUndefined()
  const stopped = leased.stop().then(() => steps.push('stopped'))
  await new Promise(setImmediate)
  expect(steps).toEqual(['look', 'stop'])
  released.resolve()
  await stopped
  expect(steps).toEqual(['look', 'stop', 'released', 'stopped'])
})

test('leases of a suspended tenant that cannot be released are a warning, and the loop goes on', async () => {
  const { leased, released, steps, state } = startDelivery()
  await expect.poll(() => steps).toEqual(['look'])
  state.isSuspended = true
  leased.wake('acme')
  await expect.poll(() => steps).toEqual(['look', 'stop'])
  released.reject(new Error('away'))
  await expect.poll(() => state.warnings).toBe(1)
  state.isSuspended = false
  leased.wake('acme')
  await expect.poll(() => steps).toEqual(['look', 'stop', 'look'])
  await leased.stop()
})
