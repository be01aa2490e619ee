import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RateClass } from '../../contract/limits.ts'
import { EventBus } from '../../server/event-bus.ts'
import { createTenantsModule } from '../../server/modules/tenants/tenants-module.ts'
import { type AuthLab, baseUrl, eventsOf, openAuthLab, operator } from './auth-lab.ts'

let lab: AuthLab
beforeAll(async () => {
  lab = await openAuthLab()
})
afterAll(() => lab.close())

const admin = () => lab.modules.tenants.administration
const wanted = (slug: string, more = {}) => ({ slug, mode: 'A' as const, adminEmail: `admin@${slug}.example`, ...more })
const kindsOf = async (slug: string) => (await eventsOf(lab.store.database, slug)).map((event) => event.event_kind)

describe('a tenant', () => {
  test('is made with its key, an event and a link', async () => {
    const made = await admin().create(wanted('acme'), operator)
    expect(made.tenant).toMatchObject({ slug: 'acme', mode: 'A', baseUrl })
    expect(made.welcome.url).toMatch(new RegExp(`^${baseUrl}/welcome/acme/[A-Za-z0-9_-]{43}$`))
    const hours = (Date.parse(made.welcome.expiresAt) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
    expect(await lab.modules.tenants.directory.find('acme')).toEqual(made.tenant)
    const signer = await lab.modules.keys.provenance.signerOf('acme')
    expect(signer.logName).toBe(made.tenant.logName)
    const [event] = await eventsOf(lab.store.database, 'acme')
    expect(event).toMatchObject({
      event_kind: 'tenant.config_changed',
      subject: 'tenant:acme',
      details: { change: 'created', actor: 'operator:test', after: { mode: 'A' } },
    })
  })

  test('of a name or address that is taken is refused', async () => {
    await expect(admin().create(wanted('acme'), operator)).rejects.toMatchObject({ slug: 'concurrent-modification' })
    const own = { mode: 'C' as const, baseUrl: 'https://hub.customer.example/' }
    const made = await admin().create(wanted('customer', own), operator)
    expect(made.tenant.baseUrl).toBe('https://hub.customer.example')
    expect(made.welcome.url.startsWith('https://hub.customer.example/welcome/customer/')).toBe(true)
    await expect(admin().create(wanted('other', own), operator)).rejects.toMatchObject({
      slug: 'concurrent-modification',
      errors: [{ pointer: '/base_url' }],
    })
  })

  test.each([
    [wanted('A'), '/slug'],
    [wanted('a'), '/slug'],
    [wanted("a';drop", { adminEmail: 'a@x.example' }), '/slug'],
    [wanted('ok', { adminEmail: 'nobody' }), '/admin_email'],
    [wanted('ok', { adminEmail: 'a@b\nc' }), '/admin_email'],
    [wanted('ok', { baseUrl: 'https://x.example' }), '/base_url'],
    [wanted('ok', { mode: 'C', baseUrl: 'x.example' }), '/base_url'],
    [wanted('ok', { mode: 'C', baseUrl: 'https://x.example/path' }), '/base_url'],
    [wanted('ok', { mode: 'C', baseUrl }), '/base_url'],
  ])('%j is refused at %s', async (tenant, pointer) => {
    await expect(admin().create(tenant, operator)).rejects.toMatchObject({
      slug: 'validation-failed',
      errors: [{ pointer }],
    })
    expect(await lab.modules.tenants.directory.find(tenant.slug)).toBeUndefined()
  })

  test('that several processes make at once is made once', async () => {
    const attempts = await Promise.allSettled([1, 2, 3].map(() => admin().create(wanted('race'), operator)))
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const key = (await lab.modules.keys.provenance.publicKeysOf('race')).map((one) => one.name)
    expect(key).toEqual([(await lab.modules.tenants.directory.find('race'))?.logName])
    expect(await kindsOf('race')).toEqual(['tenant.config_changed'])
  })

  test('whose making was cut short stays unseen, and is completed by the next attempt', async () => {
    const { database } = lab.store
    let transactionsLeft = 0
    const counting = <T>(run: () => Promise<T>): Promise<T> => {
      transactionsLeft -= 1
      return transactionsLeft < 0 ? Promise.reject(new Error('killed')) : run()
    }
    const failing = createTenantsModule({
      database: {
        ...database,
        withTenant: (...given: Parameters<typeof database.withTenant>) => counting(() => database.withTenant(...given)),
        withRegistry: (...given: Parameters<typeof database.withRegistry>) =>
          counting(() => database.withRegistry(...given)),
      } as typeof database,
      cursorKey: Buffer.alloc(32),
      keyring: lab.modules.customerKeys,
      mailer: { hasServer: false },
      events: new EventBus(),
      keys: lab.modules.keys.provenance,
      governance: {
        append: async (tx, tenant, event) => {
          const batch = await lab.modules.recordStore.records.sealer.seal(
            tenant,
            [{ recordType: 'governance_event', createdBy: 'service:hub', fields: { event_kind: event.kind } }],
            tx,
          )
          await lab.modules.recordStore.records.writer.insert(tx, batch)
          return { recordId: batch.records[0]?.recordId ?? '' }
        },
        appendAll: () => expect.unreachable(),
      },
      links: lab.modules.links,
      baseUrl: () => baseUrl,
      httpsOnly: false,
    })
    // It takes four: a look, the settings and key, the event and link, the registry.
    for (transactionsLeft of [0, 1, 2, 3]) {
      const before = transactionsLeft
      await expect(failing.administration.create(wanted('phoenix'), operator), `after ${before}`).rejects.toThrow(
        'killed',
      )
      expect(await lab.modules.tenants.directory.find('phoenix')).toBeUndefined()
    }
    transactionsLeft = 4
    const made = await failing.administration.create(wanted('phoenix'), operator)
    expect(await kindsOf('phoenix')).toEqual(['tenant.config_changed'])
    const keys = await lab.modules.keys.provenance.publicKeysOf('phoenix')
    expect(keys.map((key) => key.name)).toEqual([made.tenant.logName])
  })
})

test('the first tenant is made only where there is none', async () => {
  expect(await admin().createFirst(wanted('demo'), operator)).toBeUndefined()
  const empty = await openAuthLab()
  const { administration } = empty.modules.tenants
  const attempts = await Promise.all([1, 2].map(() => administration.createFirst(wanted('demo'), operator)))
  expect(attempts.filter((made) => made !== undefined)).toHaveLength(1)
  await empty.close()
})

test('limits are kept per class, and a change is recorded with what was before', async () => {
  await admin().create(wanted('limited'), operator)
  const { operated } = lab.modules.tenants
  const set = (per_token: number, rateClass: RateClass = 'hub-read', slug = 'limited') =>
    operated.update(slug, { limits: { [rateClass]: { per_token, per_tenant: 50 } } }, operator)
  await set(5)
  await set(5)
  await set(9, 'auth')
  await set(7)
  await set(9, 'auth')
  expect(await lab.modules.tenants.directory.limitsOf('limited')).toEqual({
    'hub-read': { perToken: 7, perTenant: 50 },
    auth: { perToken: 9, perTenant: 50 },
  })
  expect(await lab.modules.tenants.directory.limitsOf('acme')).toEqual({})
  const [five, nine, seven] = [5, 9, 7].map((per_token) => ({ per_token, per_tenant: 50 }))
  const changes = (await eventsOf(lab.store.database, 'limited')).filter((event) => event.details.change === 'tenant')
  expect(changes.map(({ details }) => [details.changed, details.before, details.after])).toEqual([
    [['limits'], { limits: {} }, { limits: { 'hub-read': five } }],
    [['limits'], { limits: { 'hub-read': five } }, { limits: { 'hub-read': five, auth: nine } }],
    [['limits'], { limits: { 'hub-read': five, auth: nine } }, { limits: { 'hub-read': seven, auth: nine } }],
  ])
  for (const perToken of [0, -1, 1.5, 1e12]) {
    await expect(set(perToken, 'auth')).rejects.toMatchObject({ errors: [{ pointer: '/limits/auth/per_token' }] })
  }
  await expect(set(1, 'auth', 'nobody')).rejects.toMatchObject({ slug: 'not-found' })
})

test('a further welcome link leaves the first one alone', async () => {
  const made = await admin().create(wanted('linked'), operator)
  const again = await admin().welcomeLink('linked')
  expect(again).toMatchObject({ tenant: made.tenant, adminEmail: 'admin@linked.example' })
  expect(again.welcome.url).not.toBe(made.welcome.url)
  const superuser = await lab.store.superuserClient()
  const { rows } = await superuser.query(`select * from hub.magic_links where tenant_id = 'linked'`)
  expect(rows).toHaveLength(2)
  const token = made.welcome.url.split('/').at(-1) ?? ''
  expect(JSON.stringify(rows)).not.toContain(token)
  await expect(admin().welcomeLink('nobody')).rejects.toMatchObject({ slug: 'not-found' })
})

describe('a service account', () => {
  const create = async (name: string, scopes: string[], slug = 'acme') => {
    const tenant = await lab.modules.tenants.directory.find(slug)
    if (!tenant) throw new Error(slug)
    return lab.modules.auth.serviceAccounts.create(tenant, { name, scopes }, operator)
  }

  test('has a secret that nothing stored gives away', async () => {
    const made = await create('app', ['telemetry:write', 'hub:read', 'hub:read'])
    expect(made).toEqual({
      client_id: expect.stringMatching(/^[A-Za-z0-9]{26}$/),
      client_secret: expect.stringMatching(/^[A-Za-z0-9]{48}$/),
      name: 'app',
      tenant: 'acme',
      scopes: ['telemetry:write', 'hub:read'],
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const superuser = await lab.store.superuserClient()
    const stored = await superuser.query('select * from hub.service_account_secrets')
    expect(stored.rows[0].secret_hash).toHaveLength(32)
    expect(JSON.stringify(await eventsOf(lab.store.database, 'acme'))).not.toContain(made.client_secret)
  })

  test('has two live secrets while it rotates, and no third', async () => {
    const made = await create('rotating', ['hub:read'])
    const tenant = await lab.modules.tenants.directory.find('acme')
    if (!tenant) throw new Error('acme')
    const rotate = () => lab.modules.auth.serviceAccounts.rotateSecret(tenant, 'rotating', operator)
    const secrets = [made.client_secret, (await rotate())?.client_secret, (await rotate())?.client_secret]
    expect(new Set(secrets).size).toBe(3)
    const superuser = await lab.store.superuserClient()
    const { rows } = await superuser.query(
      'select expires_at from hub.service_account_secrets where client_id = $1 order by created_at',
      [made.client_id],
    )
    expect(rows.map((row) => row.expires_at !== null)).toEqual([true, false])
    expect(await lab.modules.auth.serviceAccounts.rotateSecret(tenant, 'nobody', operator)).toBeUndefined()
  })

  test('has a name that others may have too, and scopes that exist', async () => {
    const [one, two] = [await create('twin', ['hub:read']), await create('twin', ['hub:write'])]
    expect(one.client_id).not.toBe(two.client_id)
    const tenant = await lab.modules.tenants.directory.find('acme')
    if (!tenant) throw new Error('acme')
    const rotated = await lab.modules.auth.serviceAccounts.rotateSecret(tenant, 'twin', operator)
    expect(rotated?.client_id).toBe(one.client_id)
    expect((await create('app', ['hub:read'], 'limited')).tenant).toBe('limited')
    await expect(create('b', ['hub:read', 'root'])).rejects.toMatchObject({ errors: [{ pointer: '/scopes' }] })
    await expect(create('b', ['hub:read', 'root'])).rejects.toThrow(/"root".*skill_entitlement:write/)
    await expect(create('b', [])).rejects.toMatchObject({ errors: [{ pointer: '/scopes' }] })
    await expect(create('b\n', ['hub:read'])).rejects.toMatchObject({ errors: [{ pointer: '/name' }] })
    const superuser = await lab.store.superuserClient()
    const orphans = await superuser.query(
      'select from hub.client_directory d where not exists (select from hub.service_accounts a where a.client_id = d.client_id)',
    )
    expect(orphans.rowCount).toBe(0)
  })
})
