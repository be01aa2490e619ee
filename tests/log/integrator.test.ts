import { afterEach, describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { listenForTenants, TenantNotifier } from '../../server/db/tenant-notifier.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { Integrator } from '../../server/modules/log/integrator.ts'
import { arrivalsChannel } from '../../server/modules/log/log-module.ts'
import { write } from '../api/record-cases.ts'
import { decision } from '../hub/record-lab.ts'
import { startHub } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'
import { openLogLab } from './log-lab.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

const tenant = (slug: string): Tenant => ({
  slug,
  mode: 'A',
  baseUrl: 'http://hub.test',
  hasOwnAddress: false,
  logName: `log/${slug}`,
})

/** Logs that take in what tenants have, by a function of the test. */
function started(
  integrate: (slug: string) => Promise<void>,
  some: { waiting?: (slug: string) => boolean; tenants?: readonly string[] } = {},
) {
  const log = { warn: vi.fn(), error: vi.fn() }
  const integrator = new Integrator({
    logs: {
      integrate: async ({ slug }) => integrate(slug).then(() => ({ treeSize: 1 })),
      hasArrivals: async (slug) => some.waiting?.(slug) ?? false,
    },
    findTenant: async (slug) => (slug === 'nobody' ? undefined : tenant(slug)),
    listTenants: async () => some.tenants ?? [],
    hear: () => ({ close() {} }),
    log,
  })
  integrator.start()
  ending.push(() => integrator.stop())
  return { integrator, log }
}

describe('the integrator', () => {
  test('takes in once what comes in together, and again what comes while it does', async () => {
    const done: string[] = []
    const first = Promise.withResolvers<void>()
    const { integrator } = started(async (slug) => {
      done.push(slug)
      if (done.length === 1) await first.promise
    })
    for (let i = 0; i < 100; i++) integrator.sealed('acme')
    await vi.waitFor(() => expect(done).toEqual(['acme']), patience)
    integrator.sealed('acme')
    first.resolve()
    await vi.waitFor(() => expect(done).toEqual(['acme', 'acme']), patience)
  })

  test('does not let a slow tenant, or one that fails, delay others', async () => {
    const slow = Promise.withResolvers<void>()
    const done = new Map<string, number>()
    const { integrator, log } = started(async (slug) => {
      done.set(slug, (done.get(slug) ?? 0) + 1)
      if (slug === 'slow') await slow.promise
      if (slug === 'broken') throw new Error('broken')
    })
    for (const slug of ['slow', 'broken', 'nobody', ...Array.from({ length: 40 }, (_, i) => `t${i}`)])
      integrator.sealed(slug)
    await vi.waitFor(() => expect(done.size).toBe(42), patience)
    slow.resolve()
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ tenant: 'broken' }), expect.anything())
    // It is tried again by itself, though nobody tells of it.
    await vi.waitFor(() => expect(done.get('broken')).toBeGreaterThan(1), patience)
  })

  test('goes on when the database comes back', async () => {
    let away = true
    const done: string[] = []
    const { integrator, log } = started(async (slug) => {
      if (away) throw new DomainError('hub-unavailable', 'away')
      done.push(slug)
    })
    integrator.sealed('acme')
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalled(), patience)
    away = false
    await vi.waitFor(() => expect(done).toEqual(['acme']), patience)
    expect(log.error).not.toHaveBeenCalled()
  })

  test('finds what a crash has left, and watches the tenant from then on', async () => {
    const done: string[] = []
    started(async (slug) => void done.push(slug), { tenants: ['idle', 'left'], waiting: (slug) => slug === 'left' })
    await vi.waitFor(() => expect(done.length).toBeGreaterThan(2), patience)
    expect(new Set(done)).toEqual(new Set(['left']))
  })

  test('stopped, it waits for what is running, and takes in no more', async () => {
    const running = Promise.withResolvers<void>()
    const done: string[] = []
    const { integrator } = started(async (slug) => {
      done.push(slug)
      await running.promise
    })
    integrator.sealed('acme')
    await vi.waitFor(() => expect(done).toEqual(['acme']), patience)
    integrator.sealed('acme')
    let stopped = false
    const stopping = integrator.stop().then(() => {
      stopped = true
    })
    await Promise.resolve()
    expect(stopped).toBe(false)
    running.resolve()
    await stopping
    integrator.sealed('acme')
    expect(done).toEqual(['acme'])
  })
})

describe('on a database', () => {
  test('seals of a process that only tells are in the log within a second, by either of two that take them in', async () => {
    const lab = await openLogLab()
    ending.push(() => lab.drop())
    const acme = await lab.openTenant('acme')
    for (const logs of [lab.logs, lab.logsOfAnotherProcess()]) {
      const integrator = new Integrator({
        logs,
        findTenant: async () => acme,
        listTenants: async () => [],
        hear: (heard) => listenForTenants(lab.database, arrivalsChannel, heard),
        log: console,
      })
      integrator.start()
      ending.push(() => integrator.stop())
    }
    const notifier = new TenantNotifier({ database: lab.database, channel: arrivalsChannel, pauseMs: 100 })
    ending.push(() => notifier.settled())
    const superuser = await lab.superuserClient()
    await vi.waitFor(async () => {
      const listening =
        "select count(*)::int as count from pg_stat_activity where query ilike 'listen%' and datname = current_database()"
      expect((await superuser.query<{ count: number }>(listening)).rows[0]!.count).toBe(2)
    }, patience)
    for (let i = 1; i <= 10; i++) {
      await lab.write(acme, decision(`d${i}`))
      notifier.notify('acme')
      const treeSize = () => lab.database.withTenant('acme', async (tx) => (await lab.logs.head(tx))?.treeSize)
      await vi.waitFor(async () => expect(await treeSize()).toBe(i), patience)
    }
  })

  test('a process that serves the API alone tells of what it stored; one that has not begun does nothing', async () => {
    const hub = await startHub()
    ending.push(() => hub.stop())
    const acme = await hub.tenant('acme')
    const heard: string[] = []
    const listener = listenForTenants(hub.test.database, arrivalsChannel, (tenantId) => heard.push(tenantId))
    const superuser = await hub.superuserClient()
    await vi.waitFor(async () => {
      const listening = `select from pg_stat_activity where query ilike 'listen%' and datname = current_database()`
      expect((await superuser.query(listening)).rowCount).toBeGreaterThan(0)
    }, patience)
    const { log } = hub.modules
    await write(hub, 'acme', { record_type: 'artifact', title: 'before' })
    log.tellOthers()
    for (let i = 0; i < 5; i++) await write(hub, 'globex', { record_type: 'artifact', title: 'after' })
    await vi.waitFor(() => expect(heard).toContain('globex'), patience)
    await log.stop()
    expect(heard).not.toContain('acme')
    listener.close()
    const { rowCount } = await superuser.query(`select from hub.seal_arrivals where tenant_id = 'acme'`)
    expect(rowCount).toBeGreaterThan(0)
    expect(await log.integrate(acme)).toMatchObject({ added: expect.any(Number) })
  })
})
