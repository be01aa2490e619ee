import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type LinkLab, linkOf, startLinkLab } from './link-lab.ts'

const email = 'kim@acme.example'

/** The job that decides about a request, and mails the link: run by hand, for what the queue would do much later. */
let lab: LinkLab
const sent: { name: string; data: object }[] = []
beforeAll(async () => {
  lab = await startLinkLab()
  await lab.add('acme', email)
  lab.hub.modules.jobSender.connect({ send: async (name, data) => void sent.push({ name, data }) })
})
afterAll(() => lab.stop())
afterEach(async () => {
  sent.length = 0
  lab.mail.received.length = 0
  lab.mail.refuse(0, 0)
  const superuser = await lab.hub.superuserClient()
  await superuser.query('delete from hub.magic_links')
})

async function ordered(body: { email: string; tenant: string }): Promise<object> {
  expect((await lab.request(body)).status).toBe(202)
  const order = sent.at(-1)
  if (order?.name !== 'mail-sign-in-link') throw new Error('no job was sent')
  return order.data
}

function run(data: object): Promise<void> {
  const job = lab.hub.modules.auth.jobs.find(({ name }) => name === 'mail-sign-in-link')
  if (!job) throw new Error('no such job')
  return job.handler({ data, signal: new AbortController().signal })
}

async function storedLinks(): Promise<number> {
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query(`select count(*)::int as links from hub.magic_links where purpose = 'sign_in'`)
  return rows[0].links
}

test('what the queue keeps tells nothing: no address, no tenant, not even how long they are', async () => {
  const long = { email: `${'é'.repeat(120)}@${'x'.repeat(60)}.${'x'.repeat(59)}.example`, tenant: `a${'b'.repeat(62)}` }
  const orders = [
    await ordered({ email, tenant: 'acme' }),
    await ordered({ email, tenant: 'acme' }),
    await ordered(long),
  ]
  const texts = orders.map((order) => JSON.stringify(order))
  expect(new Set(texts).size).toBe(3)
  expect(new Set(texts.map((text) => text.length)).size).toBe(1)
  for (const text of texts) {
    const bytes = Buffer.from((JSON.parse(text) as { sealed: string }).sealed, 'base64').toString('latin1')
    // Four letters of base64 are found by chance, in one run of a thousand.
    expect(`${text} ${bytes}`).not.toMatch(/"acme"|kim@|example|tenant/)
  }
  await run(orders[2] as object)
  await run(orders[0] as object)
  expect(lab.mail.received.map(({ to }) => to)).toEqual([[email]])
})

test('a server that will not take the message yet gets it later, with the same link', async () => {
  const order = await ordered({ email, tenant: 'acme' })
  lab.mail.refuse(2, 451)
  for (let i = 0; i < 2; i += 1) {
    const failure: Error = await run(order).then(
      () => new Error('it was sent'),
      (error) => error,
    )
    expect(failure.message).toMatch(/^Mail was not sent: .*451/)
    expect(`${failure.message} ${failure.stack}`).not.toContain('kim@')
  }
  await run(order)
  expect(lab.mail.received).toHaveLength(1)
  expect(await storedLinks()).toBe(1)
  await run(order)
  expect(new Set(lab.mail.received.map(linkOf)).size).toBe(1)
})

test('a message that the server will never take is not tried again', async () => {
  lab.mail.refuse(1, 550)
  await run(await ordered({ email, tenant: 'acme' }))
  expect([lab.mail.refused(), lab.mail.received.length]).toEqual([1, 0])
  expect(lab.hub.logLines.at(-1)).toContain('a sign-in link could not be mailed')
  expect(lab.hub.logLines.join('\n')).not.toContain(email)
})

test('nothing is mailed, and no link made, for whom nobody knows', async () => {
  for (const body of [
    { email: 'nobody@acme.example', tenant: 'acme' },
    { email, tenant: 'globex' },
    { email, tenant: 'nowhere' },
  ])
    await run(await ordered(body))
  expect([lab.mail.received.length, await storedLinks()]).toEqual([0, 0])
})

test('a link is mailed only where the tenant is served', async () => {
  const customer = { slug: 'customer', mode: 'C' as const, adminEmail: 'admin@customer.example' }
  const baseUrl = 'https://hub.customer.example'
  await lab.hub.modules.tenants.administration.create({ ...customer, baseUrl }, { operator: 'test' })
  const orderedAt = async (host: string, payload: { email: string; tenant: string }) => {
    const headers = { host, 'content-type': 'application/json' }
    const url = '/api/v1/auth/magic-link'
    expect((await lab.hub.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(202)
    return sent.at(-1)!.data
  }
  const ofCustomer = { email: customer.adminEmail, tenant: 'customer' }
  await run(await orderedAt('hub.example.com', ofCustomer))
  await run(await orderedAt('hub.customer.example', { email, tenant: 'acme' }))
  expect([lab.mail.received.length, await storedLinks()]).toEqual([0, 0])
  await run(await orderedAt('hub.customer.example', ofCustomer))
  expect(lab.mail.received.map((mail) => new URL(linkOf(mail)).origin)).toEqual([baseUrl])
})

test('the address is found in any case, and mailed as the roster has it', async () => {
  await run(await ordered({ email: 'KIM@Acme.Example', tenant: 'acme' }))
  expect(lab.mail.received.map(({ to }) => to)).toEqual([[email]])
})

test('a flood of requests comes to twenty messages an hour, whose links all open', async () => {
  for (let i = 0; i < 25; i += 1) await run(await ordered({ email, tenant: 'acme' }))
  const links = lab.mail.received.map(linkOf)
  expect(links).toHaveLength(20)
  for (const link of links) expect((await fetch(link)).status).toBe(200)
})

test('what was altered, or sealed with another key, is not worked on', async () => {
  const { sealed } = (await ordered({ email, tenant: 'acme' })) as { sealed: string }
  const bytes = Buffer.from(sealed, 'base64')
  bytes[40] = (bytes[40] ?? 0) ^ 1
  await expect(run({ sealed: bytes.toString('base64') })).rejects.toThrow(/cannot decrypt/)
  expect(lab.mail.received).toEqual([])
})
