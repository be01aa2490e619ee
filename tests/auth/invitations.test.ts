import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobSchema } from '../../server/db/job-schema.ts'
import { startHub } from '../support/hub.ts'
import { type LinkLab, press, startLinkLab, whoIsSignedIn } from './link-lab.ts'

let lab: LinkLab
beforeAll(async () => {
  lab = await startLinkLab()
})
afterAll(() => lab.stop())

const invite = (id: string, body = {}) => lab.hub.call('acme', 'POST', `/api/v1/roster/users/${id}:invite`, { body })
const jobs = async () => {
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query(
    `select data::text, state from ${jobSchema}.job where name = 'mail-invitation' order by created_on`,
  )
  return rows as { data: string; state: string }[]
}

test('with a mail server the Hub mails the link, and the response does not contain it', async () => {
  const id = await lab.add('acme', 'kim@acme.example', 'auditor')
  const count = lab.mail.received.length
  expect((await lab.hub.call('acme', 'GET', '/api/v1/tenant')).body.mail_server).toBe(true)
  const { status, body } = await invite(id)
  expect([status, body]).toEqual([
    200,
    { user_id: id, delivery: 'mail', sign_in: 'link', expires_at: expect.stringMatching(/Z$/) },
  ])
  const { message, to } = await lab.mail.next(count)
  expect([to, message.subject]).toEqual([['kim@acme.example'], 'Invitation to acme'])
  const [link] = message.text?.match(/https?:\/\/\S+\/invitation\/acme\/[\w-]{43}/) ?? []
  expect(message.html).toContain(`href="${link}"`)
  for (const part of [message.text, message.html]) expect(part).toMatch(/until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  expect(await whoIsSignedIn(lab.hub, await press(link!))).toMatchObject({ email: 'kim@acme.example', role: 'auditor' })
  const log = lab.hub.logLines.join('\n')
  expect(log).toContain('/invitation/:tenant/:token')
  expect(log).not.toContain(link!.split('/').at(-1))
  const stored = (await jobs()).map(({ data }) => data).join()
  expect(stored).not.toMatch(/@acme|\/invitation\//)
  expect(stored).not.toContain(link!.split('/').at(-1))
})

test('by choice the link is shown and nothing is mailed', async () => {
  const id = await lab.add('acme', 'lee@acme.example')
  const before = (await jobs()).length
  const { body } = await invite(id, { delivery: 'link' })
  expect((await press(body.url)).status).toBe(303)
  expect(await jobs()).toHaveLength(before)
})

test('a retried mail is not sent to a person who was deactivated, or has signed in, since', async () => {
  const id = await lab.add('acme', 'mo@acme.example')
  const count = lab.mail.received.length
  await invite(id)
  const link = (await lab.mail.next(count)).message.text?.match(/https?:\/\/\S+\/invitation\/\S+/)?.[0]
  const order = { data: JSON.parse((await jobs()).at(-1)!.data) }
  const job = lab.hub.modules.auth.jobs.find(({ name }) => name === 'mail-invitation')!
  await job.handler(order as never)
  expect(lab.mail.received).toHaveLength(count + 2)
  await lab.deactivate('acme', id)
  await job.handler(order as never)
  await lab.hub.call('acme', 'POST', `/api/v1/roster/users/${id}:reactivate`)
  expect((await press(link!)).status).toBe(303)
  await job.handler(order as never)
  expect(lab.mail.received).toHaveLength(count + 2)
})

test('a Hub without mail refuses to mail, and says what to do', async () => {
  const hub = await startHub({ settings: { HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com' } })
  try {
    const made = await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email: 'kim@acme.example' } })
    const path = `/api/v1/roster/users/${made.body.user_id}:invite`
    const refused = await hub.call('acme', 'POST', path, { body: { delivery: 'mail' } })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([503, '/delivery'])
    expect((await hub.call('acme', 'POST', path)).body).toMatchObject({ delivery: 'link' })
  } finally {
    await hub.stop()
  }
})
