import { hash } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EventBus } from '../../server/event-bus.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import { releaseAddresses } from '../../server/modules/roster/directory/people-store.ts'
import { patience } from '../support/machine-speed.ts'
import { press, sessionCookieOf } from './link-lab.ts'
import { kim, type OidcLab, startOidcLab } from './oidc-lab.ts'
import { cookieNames, type SignedInPerson, signIn } from './people.ts'
import { copyRows, freshSso, setBackCases } from './restored-row-cases.ts'

let lab: OidcLab
let db: pg.Client
let acme: Tenant

beforeAll(async () => {
  lab = await startOidcLab()
  db = await lab.hub.superuserClient()
  acme = await lab.hub.tenant('acme')
  await signIn(lab.hub, 'acme', { email: 'root@acme.example', role: 'admin' })
})
afterAll(() => lab.close())

const token = 'A'.repeat(43)
const tokenHash = hash('sha256', token, 'buffer')
const answerOf = async ({ browser }: SignedInPerson) => (await browser.call('POST', '/api/v1/auth/token')).status

async function tampered(): Promise<string[]> {
  const events = await lab.events('acme', 'hub.tamper_detected')
  return events.filter(({ details }) => String(details.failed_checks).includes('access_')).map(({ subject }) => subject)
}

async function linkRow(): Promise<Record<string, unknown>> {
  const { rows } = await db.query('select * from hub.magic_links where token_hash = $1', [tokenHash])
  return rows[0]
}

/** The Hub's own link, under a token that the test knows. */
async function mailedLink(email: string): Promise<void> {
  await db.query('delete from hub.magic_links where token_hash = $1', [tokenHash])
  await lab.hub.test.database.withTenant('acme', (tx) => lab.hub.modules.links.issueForMail(tx, acme, email, token))
}

describe('a sign-in link', () => {
  test.each(['welcome', 'sign_in'])('for %s that was inserted opens nothing', async (purpose) => {
    await db.query(
      `insert into hub.magic_links (tenant_id, token_hash, email, purpose, created_at, expires_at)
       values ('acme', $1, 'root@acme.example', $2, now(), now() + interval '1 day')`,
      [tokenHash, purpose],
    )
    const path = purpose === 'welcome' ? 'welcome' : 'sign-in/link'
    const answer = await press(`${lab.hub.baseUrl}/${path}/acme/${token}`)
    expect([answer.status, sessionCookieOf(answer)]).toEqual([404, undefined])
    expect((await linkRow()).consumed_at).toBeNull()
    await expect.poll(tampered).toContain('tenant:acme')
    await db.query('delete from hub.magic_links where token_hash = $1', [tokenHash])
  })

  test.each([
    ['to another address', `email = 'root@acme.example'`],
    ['to another purpose', `purpose = 'welcome'`],
    ['to a later end', `expires_at = now() + interval '10 days'`],
  ])('that was edited %s opens nothing', async (_, change) => {
    await signIn(lab.hub, 'acme', { email: 'lee@acme.example' })
    await mailedLink('lee@acme.example')
    await db.query(`update hub.magic_links set ${change} where token_hash = $1`, [tokenHash])
    for (const path of ['welcome', 'sign-in/link']) {
      expect((await press(`${lab.hub.baseUrl}/${path}/acme/${token}`)).status).toBe(404)
    }
  })

  test('opens once, and not again after its use was undone', async () => {
    await mailedLink('lee@acme.example')
    const url = `${lab.hub.baseUrl}/sign-in/link/acme/${token}`
    expect((await press(url)).status).toBe(303)
    await db.query('update hub.magic_links set consumed_at = null where token_hash = $1', [tokenHash])
    expect((await press(url)).status).toBe(404)
    await db.query('delete from hub.magic_links where token_hash = $1', [tokenHash])
  })
})

describe('a person', () => {
  test.each([
    ['the role', `role = 'admin'`],
    ['the address', `email = 'evil@acme.example', email_key = 'evil@acme.example'`],
    ['the epoch', 'epoch = epoch + 1'],
  ])('gets no token after %s was edited, and one again when it is put back', async (_, change) => {
    const person = await signIn(lab.hub, 'acme')
    const { userId } = person.user
    expect(await answerOf(person)).toBe(200)
    const { rows } = await db.query('select * from hub.users where user_id = $1', [userId])
    await db.query(`update hub.users set ${change} where user_id = $1`, [userId])
    expect(await answerOf(person)).toBe(401)
    await expect.poll(tampered).toContain(`user:${userId}`)
    const { role, email, email_key, epoch } = rows[0]
    const back = 'update hub.users set role = $2, email = $3, email_key = $4, epoch = $5 where user_id = $1'
    await db.query(back, [userId, role, email, email_key, epoch])
    // The refusal has cleared the cookie.
    person.browser.keep(cookieNames.session, person.session.sessionToken)
    expect(await answerOf(person)).toBe(200)
  })

  test('who was deactivated stays so', async () => {
    const { user } = await signIn(lab.hub, 'acme', { role: 'admin' })
    await lab.hub.call('acme', 'POST', `/api/v1/roster/users/${user.userId}:deactivate`)
    await db.query('update hub.users set deactivated_at = null where user_id = $1', [user.userId])
    const found = lab.hub.test.database.withTenant('acme', (tx) =>
      lab.hub.modules.roster.signInUsers.ofEmail(tx, user.email),
    )
    expect(await found).toBeUndefined()
    await db.query('delete from hub.users where user_id = $1', [user.userId])
  })

  test('who was inserted is nobody', async () => {
    await db.query(
      `insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at, proof)
       select tenant_id, 'usr_forged', 'forged@acme.example', 'forged@acme.example', role, epoch, now(), now(), proof
       from hub.users where email = 'root@acme.example'`,
    )
    const { signInUsers } = lab.hub.modules.roster
    const { database } = lab.hub.test
    expect(await database.withTenant('acme', (tx) => signInUsers.byId(tx, 'usr_forged'))).toBeUndefined()
    await expect(
      database.withTenant('acme', (tx) => signInUsers.ensure(tx, acme, 'forged@acme.example')),
    ).rejects.toMatchObject({ slug: 'authentication-failed' })
    await db.query(`delete from hub.users where user_id = 'usr_forged'`)
  })

  test('keeps an edit refused, whatever the Hub changes about them', async () => {
    const person = await signIn(lab.hub, 'acme')
    const { userId } = person.user
    await db.query(`update hub.users set role = 'admin' where user_id = $1`, [userId])
    const path = `/api/v1/roster/users/${userId}`
    const answers = await Promise.all([
      lab.hub.call('acme', 'PUT', `${path}/role`, { body: { role: 'auditor' } }),
      lab.hub.call('acme', 'POST', `${path}:deactivate`),
      lab.hub.call('acme', 'POST', `${path}:reactivate`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    await lab.hub.test.database.withTenant('acme', (tx) => releaseAddresses(tx, [userId]))
    expect(await answerOf(person)).toBe(401)
    await db.query('delete from hub.users where user_id = $1', [userId])
  })

  test('of another tenant lends nobody a proof', async () => {
    const { user } = await signIn(lab.hub, 'globex', { role: 'admin' })
    await db.query(`update hub.users set tenant_id = 'acme' where user_id = $1`, [user.userId])
    const found = lab.hub.test.database.withTenant('acme', (tx) =>
      lab.hub.modules.roster.signInUsers.byId(tx, user.userId),
    )
    expect(await found).toBeUndefined()
    await db.query('delete from hub.users where user_id = $1', [user.userId])
  })
})

describe('a service account', () => {
  const create = () =>
    lab.hub.modules.auth.serviceAccounts.create(acme, { name: 'narrow', scopes: ['hub:read'] }, { operator: 'test' })
  async function statusOf(account: { client_id: string; client_secret: string }): Promise<number> {
    const { client_id, client_secret } = account
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    return (await fetch(`${lab.hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', body })).status
  }

  test.each([
    ['its scopes', `scopes = '{hub:read,governance:read,hub:purge}'`],
    ['its end', `expires_at = now() + interval '1 year'`],
    ['its networks', `allowed_addresses = '{0.0.0.0/0}'`],
  ])('gets no token after %s were edited', async (_, change) => {
    const account = await create()
    await db.query(`update hub.service_accounts set ${change} where client_id = $1`, [account.client_id])
    expect(await statusOf(account)).toBe(401)
    await expect.poll(tampered).toContain(`service_account:${account.client_id}`)
    const path = `/api/v1/service-accounts/${account.client_id}`
    const narrower = await lab.hub.call('acme', 'PATCH', path, { body: { name: 'another' } })
    expect(narrower.status).toBe(404)
    expect(await statusOf(account)).toBe(401)
  })

  test('does not get back a secret that was rotated away', async () => {
    const account = await create()
    const { rows } = await db.query('select * from hub.service_account_secrets where client_id = $1', [
      account.client_id,
    ])
    const { serviceAccounts } = lab.hub.modules.auth
    await serviceAccounts.rotate(acme, account.client_id, { operator: 'test' })
    const last = await serviceAccounts.rotate(acme, account.client_id, { operator: 'test' })
    const current = { client_id: account.client_id, client_secret: last.client_secret }
    expect([await statusOf(account), await statusOf(current)]).toEqual([401, 200])
    const { tenant_id, client_id, secret_hash, created_at } = rows[0]
    await db.query(
      'insert into hub.service_account_secrets (tenant_id, client_id, secret_hash, created_at) values ($1, $2, $3, $4)',
      [tenant_id, client_id, secret_hash, created_at],
    )
    expect(await statusOf(account)).toBe(401)
  })
})

describe('an identity provider', () => {
  test('whose row was edited signs nobody in, and works again once it is configured', async () => {
    await lab.connect('acme')
    expect((await lab.browser().signIn('acme', kim.sub)).status).toBe(303)
    await db.query(`update hub.sso_connections set allowed_email_domains = '{evil.example}' where tenant_id = 'acme'`)
    expect((await lab.browser().go('/api/v1/auth/login?tenant=acme')).status).not.toBe(302)
    await expect.poll(async () => (await tampered()).some((subject) => subject.startsWith('connection:'))).toBe(true)
    await lab.connect('acme')
    expect((await lab.browser().go('/api/v1/auth/login?tenant=acme')).status).toBe(302)
  })

  test('does not vouch for the person to whom an identity was moved', async () => {
    await lab.connect('acme')
    expect((await lab.browser().signIn('acme', kim.sub)).status).toBe(303)
    const { rows } = await db.query(`select user_id from hub.users where email = 'root@acme.example'`)
    await db.query(`delete from hub.user_identities where user_id = $1`, [rows[0].user_id])
    await db.query(`update hub.user_identities set user_id = $1 where tenant_id = 'acme' and subject = $2`, [
      rows[0].user_id,
      kim.sub,
    ])
    expect((await lab.browser().signIn('acme', kim.sub)).status).toBe(401)
  })
})

test('the address of the first administrator makes nobody one after it was edited', async () => {
  const { adminEmail } = lab.hub.modules.tenants
  const read = () => lab.hub.test.database.withTenant('globex', adminEmail)
  expect(await read()).toBe('admin@globex.example')
  await db.query(`update hub.tenant_settings set admin_email = 'evil@globex.example' where tenant_id = 'globex'`)
  expect(await read()).toBeUndefined()
  await expect(lab.hub.modules.tenants.administration.welcomeLink('globex')).rejects.toMatchObject({
    slug: 'concurrent-modification',
  })
  // What the tenant says of itself does not make the edit good.
  const details = { display_name: 'Globex', contact_email: 'hello@globex.example' }
  await lab.hub.call('globex', 'PATCH', '/api/v1/tenants/current', { body: details })
  expect(await read()).toBeUndefined()
})

describe('a tenant', () => {
  const reported = async () => {
    const events = await lab.events('globex', 'hub.tamper_detected')
    return events.map(({ subject, details }) => `${subject} ${details.failed_checks}`)
  }
  const statusOf = async () => (await lab.hub.call('globex', 'GET', '/api/v1/tenant')).status

  // An address of somebody else's would get the links that are mailed; access tokens name the former as their issuer.
  test.each([
    ['address', `base_url = 'https://evil.example'`, 401],
    ['mode', `mode = 'B'`, 403],
    ['log name', `log_name = 'orghub/log/other'`, 403],
  ])('is served to nobody after its %s was edited, and again when it is put back', async (_, change, status) => {
    const { administration, operated } = lab.hub.modules.tenants
    const { rows } = await db.query(`select * from hub.tenants where slug = 'globex'`)
    expect(await statusOf()).toBe(200)
    await db.query(`update hub.tenants set ${change} where slug = 'globex'`)
    try {
      await expect.poll(statusOf, patience).toBe(status)
      await expect.poll(reported).toContain('tenant:globex access_proven')
      const refused = { slug: 'concurrent-modification', message: expect.stringMatching(/changed outside of the Hub/) }
      await expect(administration.welcomeLink('globex')).rejects.toMatchObject(refused)
      const suspended = operated.update('globex', { suspended: false }, { operator: 'test' })
      await expect(suspended).rejects.toMatchObject(refused)
    } finally {
      const { base_url, mode, log_name } = rows[0]
      const back = `update hub.tenants set base_url = $1, mode = $2, log_name = $3 where slug = 'globex'`
      await db.query(back, [base_url, mode, log_name])
    }
    await expect.poll(statusOf, patience).toBe(200)
  })

  test('stays suspended after its suspension was ended in the database', async () => {
    const { operated, directory } = lab.hub.modules.tenants
    const suspend = (suspended: boolean) => operated.update('globex', { suspended }, { operator: 'test' })
    const { suspended_at } = await suspend(true)
    await db.query(`update hub.tenants set suspended_at = null where slug = 'globex'`)
    try {
      expect(await directory.read('globex')).toBeUndefined()
      await expect(suspend(false)).rejects.toMatchObject({ slug: 'concurrent-modification' })
    } finally {
      await db.query(`update hub.tenants set suspended_at = $1 where slug = 'globex'`, [suspended_at])
    }
    await suspend(false)
    expect(await directory.read('globex')).toMatchObject({ slug: 'globex' })
  })

  test('that was inserted is none', async () => {
    const insert = `insert into hub.tenants (slug, mode, log_name, created_at) values ('forged', 'A', 'orghub/log/forged', now())`
    await db.query(insert)
    expect(await lab.hub.modules.tenants.directory.find('forged')).toBeUndefined()
    await db.query(`delete from hub.tenants where slug = 'forged'`)
  })

  test('keeps its proof through what the operator changes', async () => {
    const { operated } = lab.hub.modules.tenants
    for (const base_url of ['https://hub.cmode.example', null]) {
      await operated.update('cmode', { base_url }, { operator: 'test' })
      expect(await lab.hub.modules.tenants.directory.read('cmode')).toMatchObject({ hasOwnAddress: base_url !== null })
    }
  })
})

describe('a row that was set back with the proof that it had', () => {
  let cmode: Tenant
  const sweep = () => lab.hub.modules.hub.sweeper.sweep(cmode)
  const nothing = { failed: 0, inconsistent: 0 }

  beforeAll(async () => {
    cmode = await lab.hub.tenant('cmode')
  })

  test.each(Object.entries(setBackCases))(
    'is found: %s',
    async (_, { table, secrets, prepare, change, confirm, undo }) => {
      const tables = secrets === undefined ? [table] : [table, secrets]
      const subject = await prepare(lab)
      const setBack = await copyRows(db, tables, 'cmode')
      await change(lab)
      expect(await sweep()).toMatchObject(nothing)
      const repair = await copyRows(db, tables, 'cmode')
      await setBack()
      expect(await sweep()).toMatchObject({ failed: 0, inconsistent: 1 })
      expect((await lab.events('cmode', 'hub.tamper_detected')).at(-1)).toMatchObject({
        subject,
        details: { failed_checks: ['access_follows_events'], found: { table, event: expect.any(String) } },
      })
      await confirm?.(lab)
      expect(await sweep()).toMatchObject({ failed: 0, inconsistent: 1 })
      await repair()
      await undo?.(lab)
      expect(await sweep()).toMatchObject(nothing)
    },
  )

  test('is not compared with an event that an earlier version wrote', async () => {
    const subject = await freshSso(lab)
    const setBack = await copyRows(db, ['hub.sso_connections'], 'cmode')
    await lab.connect('cmode', { allowed_email_domains: ['other.example'] })
    await setBack()
    expect((await sweep()).inconsistent).toBe(1)
    const governance = createGovernanceLog({ ...lab.hub.modules.recordStore.records, events: new EventBus() })
    const event = { kind: 'tenant.config_changed', subject, actor: { operator: 'test' } } as const
    const details = { change: 'sso', before: null, after: null }
    await lab.hub.test.database.withTenant('cmode', (tx) => governance.append(tx, cmode, { ...event, details }))
    expect(await sweep()).toMatchObject(nothing)
  })
})

describe('the sweeper', () => {
  test('finds a row that was set back with the proof that it had', async () => {
    const { hub } = lab
    const reports = async () => (await lab.events('cmode', 'hub.tamper_detected')).slice(reported)
    const reported = (await lab.events('cmode', 'hub.tamper_detected')).length
    const { user } = await signIn(hub, 'cmode', { role: 'admin' })
    await signIn(hub, 'cmode', { role: 'admin' })
    const { user: member } = await signIn(hub, 'cmode')
    const cmode = await hub.tenant('cmode')
    const account = await hub.modules.auth.serviceAccounts.create(
      cmode,
      { name: 'wide', scopes: ['hub:read', 'hub:purge'] },
      { operator: 'test' },
    )
    expect(await hub.modules.hub.sweeper.sweep(cmode)).toMatchObject({ failed: 0, inconsistent: 0 })
    await db.query('create table former_users as select * from hub.users where user_id = any($1)', [
      [user.userId, member.userId],
    ])
    await db.query('create table former_accounts as select * from hub.service_accounts where client_id = $1', [
      account.client_id,
    ])
    const role = await hub.call('cmode', 'PUT', `/api/v1/roster/users/${user.userId}/role`, {
      body: { role: 'member' },
    })
    expect(role.status).toBe(200)
    const left = await hub.call('cmode', 'POST', `/api/v1/roster/users/${member.userId}:deactivate`, { body: {} })
    expect(left.status).toBe(200)
    await hub.modules.auth.serviceAccounts.update(
      cmode,
      account.client_id,
      { scopes: ['hub:read'] },
      { operator: 'test' },
    )
    expect(await hub.modules.hub.sweeper.sweep(cmode)).toMatchObject({ failed: 0, inconsistent: 0 })
    for (const [table, former, id] of [
      ['hub.users', 'former_users', 'user_id'],
      ['hub.service_accounts', 'former_accounts', 'client_id'],
    ]) {
      await db.query(`delete from ${table} where ${id} in (select ${id} from ${former})`)
      await db.query(`insert into ${table} select * from ${former}`)
    }
    expect((await hub.modules.hub.sweeper.sweep(cmode)).inconsistent).toBe(3)
    expect((await reports()).map(({ subject, details }) => [subject, details.failed_checks]).sort()).toEqual([
      [`service_account:${account.client_id}`, ['access_follows_events']],
      ...[member.userId, user.userId].sort().map((id) => [`user:${id}`, ['access_follows_events']]),
    ])
  })
})
