import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { WebhookFormat } from '../../../../contract/webhook-formats.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { MessageRow } from './delivery-queue-store.ts'

/**
 * Limits that both services accept: Slack takes 150 characters in a header and 10 fields in a section, Teams 28 KB, of
 * which one character can take six bytes.
 */
const titleMax = 150
const factsMax = 10
const nameMax = 100
const valueMax = 300

interface ChatText {
  title: string
  facts: readonly (readonly [name: string, value: string])[]
  /** The message's kind, tenant and time. */
  footer: string
}

/**
 * Returns a message as a chat service accepts it. All texts of messages are plain: no client can add links or mentions.
 *
 * @param row its `data` is compact JSON
 */
export function chatBody(
  format: Exclude<WebhookFormat, 'hub'>,
  tenantSlug: string,
  row: MessageRow & { data: string },
): string {
  const text = chatText(tenantSlug, row)
  return JSON.stringify(format === 'slack' ? slackMessage(text) : teamsMessage(text))
}

/** Returns the payload of an incoming webhook: `text` for notifications, `blocks` for the channel. */
function slackMessage({ title, facts, footer }: ChatText): JsonObject {
  return {
    text: escapedForSlack(title),
    blocks: [
      { type: 'header', text: plain(title) },
      ...(facts.length > 0
        ? [{ type: 'section', fields: facts.map(([name, value]) => plain(`${name}: ${value}`)) }]
        : []),
      { type: 'context', elements: [plain(footer)] },
    ],
  }
}

function plain(text: string): JsonObject {
  return { type: 'plain_text', text, emoji: false }
}

/** Slack reads `<…>` and `&` in `text` as links and mentions. */
function escapedForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Returns an adaptive card in the message that the webhook trigger of a workflow takes. Text runs have no markup. */
function teamsMessage({ title, facts, footer }: ChatText): JsonObject {
  const line = (...inlines: JsonObject[]) => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, look: JsonObject = {}) => ({ type: 'TextRun', text, ...look })
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            line(run(title, { weight: 'bolder', size: 'medium' })),
            ...facts.map(([name, value]) => line(run(`${name}: `, { weight: 'bolder' }), run(value))),
            line(run(footer, { isSubtle: true, size: 'small' })),
          ],
        },
      },
    ],
  }
}

function chatText(tenantSlug: string, { kind, occurred_at, data }: MessageRow & { data: string }): ChatText {
  const members = JSON.parse(data) as JsonObject
  return {
    title: cut(titleOf(kind, members), titleMax),
    facts: factsOf(members),
    footer: cut(`${kind} · ${tenantSlug} · ${occurred_at}`, valueMax),
  }
}

function titleOf(kind: string, data: JsonObject): string {
  const of = (name: string) => shown(data[name] ?? 'unknown')
  switch (kind) {
    case testEventKind:
      return 'Test message. Nothing has happened.'
    case 'budget.threshold_reached':
      return `Budget ${of('name')} reached ${of('threshold')} %`
    case 'skill.alert_opened':
      return `Alert: ${words(of('metric'))} of ${of('key')} is ${of('value')}, above ${of('threshold')}`
    case 'skill.alert_closed':
      return `Resolved: ${words(of('metric'))} of ${of('key')} is ${of('value')}`
    case 'skill.invocation_failed':
      return `An invocation of ${of('skill_id')} failed`
    case 'skill.latency_exceeded':
      return `An invocation of ${of('skill_id')} took ${of('latency_ms')} ms`
    case 'skill.cost_exceeded':
      return `An invocation of ${of('skill_id')} exceeded the cost threshold`
    default:
      return words(kind.replaceAll('.', ' '))
  }
}

/** Returns the first members with a value, nested ones with the names of both. */
function factsOf(data: JsonObject, prefix = ''): [string, string][] {
  return Object.entries(data)
    .flatMap(([name, value]): [string, string][] => {
      const label = `${prefix}${words(name)}`
      if (value === null || value === '') return []
      if (isJsonObject(value)) return prefix === '' ? factsOf(value, `${label} `) : []
      return [[cut(label, nameMax), cut(shown(value), valueMax)]]
    })
    .slice(0, factsMax)
}

/** Returns a name as words: "Error rate" for `error_rate`. */
function words(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Cuts between characters, and marks the cut. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).toWellFormed()}…`
}
