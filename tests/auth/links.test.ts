import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { signInMailsPerHour } from '../../contract/limits.ts'
import type { TenantTx } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import type { LinkPurpose } from '../../server/modules/links/links-types.ts'
import { type AuthLab, openAuthLab, operator } from './auth-lab.ts'

const email = 'kim@acme.example'

let lab: AuthLab
let acme: Tenant
let globex: Tenant
beforeAll(async () => {
  lab = await openAuthLab()
  const { administration } = lab.modules.tenants
  const make = async (slug: string) =>
    (await administration.create({ slug, mode: 'A', adminEmail: `admin@${slug}.example` }, operator)).tenant
  acme = await make('acme')
  globex = await make('globex')
})
afterAll(() => lab.close())
afterEach(async () => {
  const superuser = await lab.store.superuserClient()
  await superuser.query('delete from hub.magic_links')
})

const within = <T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>) =>
  lab.store.database.withTenant(tenant.slug, work)
const links = () => lab.modules.links
const tokenOf = (url: string) => url.split('/').at(-1) as string

async function issue(purpose: LinkPurpose = 'sign_in') {
  const link = await within(acme, (tx) => links().issue(tx, acme, email, purpose))
  return { ...link, token: tokenOf(link.url) }
}

async function age(interval: string): Promise<void> {
  const superuser = await lab.store.superuserClient()
  await superuser.query(
    'update hub.magic_links set created_at = created_at - $1::interval, expires_at = expires_at - $1::interval',
    [interval],
  )
  await lab.store.proveRows()
}

describe('a link', () => {
  test.each([
    ['welcome', '/welcome/acme/'],
    ['sign_in', '/sign-in/link/acme/'],
  ] as const)('for %s has an address of its own, and ends after 24 hours', async (purpose, path) => {
    const beganMs = Date.now()
    const { url, expiresAt, token } = await issue(purpose)
    expect(url).toBe(`${acme.baseUrl}${path}${token}`)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(beganMs + 24 * 3_600_000)
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000)
  })

  test('is stored as a hash', async () => {
    const { token } = await issue()
    const superuser = await lab.store.superuserClient()
    const { rows } = await superuser.query('select magic_links::text as row from hub.magic_links')
    expect(rows).toHaveLength(1)
    expect(rows[0].row).not.toContain(token)
    expect(rows[0].row).not.toContain(Buffer.from(token, 'base64url').toString('hex'))
  })

  test('is looked at without being used up, and used up once', async () => {
    const { token, expiresAt } = await issue()
    const open = { purpose: 'sign_in', email, expiresAt }
    const look = () => within(acme, (tx) => links().look(tx, token))
    for (let i = 0; i < 2; i += 1) expect(await look()).toEqual({ ...open, isOpen: true })
    expect(await within(acme, (tx) => links().consume(tx, token))).toEqual(open)
    expect(await within(acme, (tx) => links().consume(tx, token))).toBeUndefined()
    expect(await look()).toEqual({ ...open, isOpen: false })
  })

  test('is given to one of many who use it up at once', async () => {
    const { token } = await issue()
    const all = await Promise.all(Array.from({ length: 12 }, () => within(acme, (tx) => links().consume(tx, token))))
    expect(all.filter((link) => link !== undefined)).toHaveLength(1)
  })

  test('is not used up by a transaction that rolls back', async () => {
    const { token } = await issue()
    const failing = within(acme, async (tx) => {
      await links().consume(tx, token)
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(await within(acme, (tx) => links().consume(tx, token))).toBeDefined()
  })

  test('does not open when it has expired, in another tenant, or altered', async () => {
    const { token } = await issue()
    const last = token.at(-1) === 'A' ? 'B' : 'A'
    for (const wrong of [`${token.slice(0, -1)}${last}`, `${token}A`, token.slice(1), '', 'x'.repeat(10_000)]) {
      expect(await within(acme, (tx) => links().look(tx, wrong))).toBeUndefined()
      expect(await within(acme, (tx) => links().consume(tx, wrong))).toBeUndefined()
    }
    expect(await within(globex, (tx) => links().look(tx, token))).toBeUndefined()
    expect(await within(globex, (tx) => links().consume(tx, token))).toBeUndefined()
    await age('24 hours')
    expect(await within(acme, (tx) => links().look(tx, token))).toMatchObject({ isOpen: false })
    expect(await within(acme, (tx) => links().consume(tx, token))).toBeUndefined()
  })
})

describe('a link to be mailed', () => {
  const ask = (tenant = acme, token = links().newToken(), to = email) =>
    within(tenant, (tx) => links().issueForMail(tx, tenant, to, token))

  test('is the same each time that sending it is tried', async () => {
    const token = links().newToken()
    const first = await ask(acme, token)
    expect(first?.url).toBe(`${acme.baseUrl}/sign-in/link/acme/${token}`)
    expect(await ask(acme, token)).toEqual(first)
    await within(acme, (tx) => links().consume(tx, token))
    expect(await ask(acme, token)).toBeUndefined()
  })

  test('is made twenty times within an hour for an address of a tenant, and those stay good', async () => {
    const tokens: string[] = []
    for (let i = 0; i < signInMailsPerHour; i += 1) {
      const token = links().newToken()
      expect(await ask(acme, token)).toBeDefined()
      tokens.push(token)
    }
    expect(await ask()).toBeUndefined()
    expect(await ask(globex)).toBeDefined()
    expect(await ask(acme, links().newToken(), 'lee@acme.example')).toBeDefined()
    for (const token of tokens) expect(await within(acme, (tx) => links().consume(tx, token))).toBeDefined()
    await age('59 minutes')
    expect(await ask()).toBeUndefined()
    await age('2 minutes')
    expect(await ask()).toBeDefined()
  })

  test('is made no more than twenty times for many requests at once', async () => {
    const made = await Promise.all(Array.from({ length: signInMailsPerHour + 8 }, () => ask()))
    expect(made.filter((link) => link !== undefined)).toHaveLength(signInMailsPerHour)
  })

  test('does not count against a welcome link, nor the other way round', async () => {
    await issue('welcome')
    expect(await ask()).toBeDefined()
  })
})
