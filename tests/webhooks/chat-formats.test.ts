import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WebhookFormat } from '../../contract/webhook-formats.ts'
import { chatBody } from '../../server/modules/webhooks/worker/chat-message.ts'
import { messageOf, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

type ChatFormat = Exclude<WebhookFormat, 'hub'>

// biome-ignore lint/suspicious/noExplicitAny: the checks look for what the vendors document, whatever there is
type Body = any

/** Blocks of an incoming webhook, as Slack documents them: kinds, and lengths of plain texts. */
function faultsForSlack(body: Body): string[] {
  const isPlain = (text: Body, most: number) =>
    text?.type === 'plain_text' && typeof text.text === 'string' && text.text.length >= 1 && text.text.length <= most
  const checks: Record<string, (block: Body) => boolean> = {
    header: ({ text }) => isPlain(text, 150),
    section: ({ fields }) =>
      fields.length >= 1 && fields.length <= 10 && fields.every((field: Body) => isPlain(field, 2000)),
    context: ({ elements }) => elements.length <= 10 && elements.every((element: Body) => isPlain(element, 2000)),
  }
  return [
    ...Object.keys(body).filter((member) => !['text', 'blocks'].includes(member)),
    ...(typeof body.text === 'string' && body.text.length <= 4000 ? [] : ['text']),
    ...(body.blocks.length >= 1 && body.blocks.length <= 50 ? [] : ['blocks']),
    ...body.blocks.filter((block: Body) => !checks[block.type]?.(block)).map((block: Body) => JSON.stringify(block)),
  ]
}

/** An adaptive card in a message, as the webhook trigger of a workflow takes it, of at most 28 KB. */
function faultsForTeams(body: Body): string[] {
  const [attachment, ...others] = body.attachments
  const { contentType, contentUrl, content } = attachment
  const isRun = (run: Body) => run.type === 'TextRun' && typeof run.text === 'string'
  return [
    ...(body.type === 'message' && others.length === 0 ? [] : ['message']),
    ...(contentType === 'application/vnd.microsoft.card.adaptive' && contentUrl === null ? [] : ['attachment']),
    ...(content.type === 'AdaptiveCard' && /^1\.[2-5]$/.test(content.version) ? [] : ['card']),
    ...content.body
      .filter(({ type, inlines }: Body) => type !== 'RichTextBlock' || !inlines.every(isRun))
      .map((element: Body) => JSON.stringify(element)),
    ...(Buffer.byteLength(JSON.stringify(body)) <= 28 * 1024 ? [] : ['too large']),
  ]
}

const faultsFor: Record<ChatFormat, (body: Body) => string[]> = { slack: faultsForSlack, teams: faultsForTeams }
const formats = ['slack', 'teams'] as const

/** Every text that people read. */
function textsOf(value: Body): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'text' && typeof member === 'string' ? [member] : textsOf(member),
  )
}

const row = (kind: string, data: object) => ({
  ...{ message_id: '01890a5d-ac96-774b-bcce-b302099a8057', kind, occurred_at: '2026-01-02T03:04:05.678901Z' },
  ...{ sequence: 7, data: JSON.stringify(data) },
})
const bodyOf = (format: ChatFormat, kind: string, data: object): Body =>
  JSON.parse(chatBody(format, 'acme', row(kind, data)))

test.each(formats)('each kind has a title and its members in the format %s', (format) => {
  const titles = [
    ['budget.threshold_reached', { name: 'Support', threshold: 80 }, 'Budget Support reached 80 %'],
    [
      'skill.alert_opened',
      { metric: 'error_rate', key: 'sum-up', value: 0.31, threshold: 0.2 },
      'Alert: Error rate of sum-up is 0.31, above 0.2',
    ],
    [
      'skill.alert_closed',
      { metric: 'error_rate', key: 'sum-up', value: 0.1 },
      'Resolved: Error rate of sum-up is 0.1',
    ],
    ['skill.invocation_failed', { skill_id: 'sum-up' }, 'An invocation of sum-up failed'],
    ['skill.latency_exceeded', { skill_id: 'sum-up', latency_ms: 9 }, 'An invocation of sum-up took 9 ms'],
    ['skill.cost_exceeded', { skill_id: 'sum-up' }, 'An invocation of sum-up exceeded the cost threshold'],
    ['webhook.test', { message: 'Hello' }, 'Test message. Nothing has happened.'],
    ['governance.hub.tamper_detected', { subject: 'record:1' }, 'Governance hub tamper detected'],
  ] as const
  for (const [kind, data, title] of titles) {
    const body = bodyOf(format, kind, data)
    expect(faultsFor[format](body)).toEqual([])
    const texts = textsOf(body)
    expect(texts).toContain(title)
    expect(texts.join('\n')).toContain(`${kind} · acme · 2026-01-02T03:04:05.678901Z`)
    for (const value of Object.values(data)) expect(texts.join('\n')).toContain(String(value))
  }
})

test.each(formats)('many, long, nested and empty members stay within the limits of %s', (format) => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`m${at}`, '\u0001😀'.repeat(5_000)]))
  for (const data of [
    {},
    many,
    { ['n'.repeat(500)]: 'x' },
    { window: { from: 'a', deeper: { never: 1 } }, none: null },
  ])
    for (const kind of ['user.updated', `governance.custom.${'k'.repeat(121)}`])
      expect(faultsFor[format](bodyOf(format, kind, data))).toEqual([])
  const texts = textsOf(bodyOf(format, 'user.updated', { window: { from: 'a', deeper: { never: 1 } }, none: null }))
  expect(texts.join('')).toContain('Window From: a')
  expect(texts.join('')).not.toMatch(/never|None/i)
})

test('no value of a client becomes a link, a mention or markup', () => {
  const evil = '<!channel> <https://evil.example|Sign in> & *bold* [a](https://evil.example)'
  const data = { skill_id: evil, note: evil }
  const slack = bodyOf('slack', 'skill.invocation_failed', data)
  expect(slack.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  expect(JSON.stringify(slack)).not.toContain('mrkdwn')
  const teams = bodyOf('teams', 'skill.invocation_failed', data)
  expect(faultsForTeams(teams)).toEqual([])
})

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab?.stop())

test.each(formats)(
  'an endpoint of the format %s receives it signed, and another format from then on',
  async (format) => {
    const endpoint = await lab.connect({ format })
    expect(await endpoint.get()).toMatchObject({ format })
    await lab.tell('acme', [messageOf()], [endpoint.webhookId])
    const [first] = await endpoint.receiving.count(1)
    expect(faultsFor[format](first!.body)).toEqual([])
    expect(first).toMatchObject({ signedBy: [0], headers: { 'x-service-tenant': 'acme' } })
    await endpoint.deliveriesWhen(([only]) => only?.status === 'delivered')

    expect((await endpoint.change({ format: 'hub' })).body).not.toHaveProperty('format')
    await lab.tell('acme', [messageOf()], [endpoint.webhookId])
    const [, second] = await endpoint.receiving.count(2)
    expect(second!.body).toMatchObject({ kind: 'skill.invocation_failed', tenant: 'acme' })
  },
)

test('an unknown format is rejected, and names its place', async () => {
  const answer = await lab.hub.call('acme', 'POST', '/api/v1/webhooks', {
    body: { url: 'https://hooks.acme.example/hub', events: ['user.*'], format: 'irc' },
  })
  expect(answer.status).toBe(400)
  expect(answer.body.errors).toMatchObject([{ pointer: '/format' }])
})
