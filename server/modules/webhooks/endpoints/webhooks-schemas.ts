import { Type } from 'typebox'
import {
  webhookAlertsMax,
  webhookDescriptionLengthMax,
  webhookEventsMax,
  webhookFailingHoursMax,
  webhookFilterIdsMax,
  webhookHealthCountMax,
  webhookOpenDeliveriesMax,
  webhookThresholdDefaults,
} from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { webhookFormats } from '../../../../contract/webhook-formats.ts'

/** Minimum number of invocations in a window: error rate and latency of fewer say nothing. */
export const minInvocationsDefault = 20

/** The length of `governance.` and the longest kind of a client. */
const eventNameLengthMax = 139
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const WebhookId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the endpoint',
  examples: ['whk_7Kd2mQx9RtVb4LhZs8WcNp3F'],
})

export const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Address that receives messages by POST',
  examples: ['https://hooks.acme.example/hub'],
})
const Events = Type.Array(Type.String({ minLength: 1, maxLength: eventNameLengthMax }), {
  maxItems: webhookEventsMax,
  uniqueItems: true,
  description:
    'Subscribed event types: `user.provisioned`, `user.updated`, `user.deactivated`, `user.archetype_changed`, ' +
    '`skill.invocation_failed`, `skill.latency_exceeded`, `skill.cost_exceeded`, and `governance.` with the kind ' +
    'of a governance event, such as `governance.auth.login` or `governance.custom.deployed`. `user.*`, `skill.*`, ' +
    '`governance.*` and `governance.hub.*` are whole families. May be empty if `alerts` has rules.',
  examples: [['user.*', 'skill.latency_exceeded', 'governance.*']],
})
const Description = Type.String({
  maxLength: webhookDescriptionLengthMax,
  pattern: '^[^\\p{C}]*$',
  'x-must-be': 'a string without control characters',
  description: 'Purpose of the endpoint; empty for none',
  examples: ['Alerts of the platform team'],
})
const ids = (description: string, example: string) =>
  Type.Array(Type.String({ pattern: patterns.identifier }), {
    minItems: 1,
    maxItems: webhookFilterIdsMax,
    uniqueItems: true,
    description,
    examples: [[example]],
  })
export const Filters = object(
  {
    skill_ids: Type.Optional(ids('Only invocations of these skills', 'contract-review')),
    archetype_ids: Type.Optional(ids('Only invocations by people with these archetypes', 'legal-counsel')),
  },
  {
    description: 'Conditions on the invocations of `skill.*`; none if empty',
    examples: [{ skill_ids: ['contract-review'] }],
  },
)
const Thresholds = object(
  {
    latency_ms: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 600_000,
        description: `\`skill.latency_exceeded\` reports invocations that took longer; defaults to ${webhookThresholdDefaults.latency_ms}`,
        examples: [20_000],
      }),
    ),
    cost_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: `\`skill.cost_exceeded\` reports invocations whose reported or calculated cost is higher; default is ${webhookThresholdDefaults.cost_usd}`,
        examples: [0.5],
      }),
    ),
  },
  { description: 'Thresholds for single invocations', examples: [{ latency_ms: 20_000, cost_usd: 0.5 }] },
)
export const Rule = object({
  metric: Type.Enum(['error_rate', 'latency_p95_ms', 'cost_usd_per_hour'], {
    description: 'Ratio of failed invocations from 0 to 1, milliseconds, or US dollars per hour',
    examples: ['error_rate'],
  }),
  group_by: Type.Enum(['skill', 'user', 'archetype'], {
    description: 'Each skill, person or archetype is evaluated separately',
    examples: ['skill'],
  }),
  above: Type.Number({
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'An alert opens when the metric is above this value',
    examples: [0.2],
  }),
  recovers_at: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'The alert closes after the metric was at or below this value for a whole window; default is `above`',
      examples: [0.05],
    }),
  ),
  window_minutes: Type.Integer({
    minimum: 15,
    maximum: 1440,
    multipleOf: 15,
    description: 'Length of the window, in quarters of an hour',
    examples: [60],
  }),
  min_invocations: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: `Error rate and latency open no alert with fewer invocations in the window; default is ${minInvocationsDefault}`,
      examples: [20],
    }),
  ),
})
const Alerts = Type.Array(Rule, {
  maxItems: webhookAlertsMax,
  description:
    'Rules over time windows. `skill.alert_opened` and `skill.alert_closed` report each alert once, regardless of ' +
    '`events`.',
})

export const Format = Type.Enum([...webhookFormats], {
  description:
    'Body of the messages: that of the Hub (`hub`, the default, absent in responses), the payload of an incoming ' +
    'webhook of Slack, or the adaptive card that a workflow of Microsoft Teams takes',
  examples: ['slack'],
})

const settings = {
  format: Type.Optional(Format),
  description: Type.Optional(Description),
  filters: Type.Optional(Filters),
  thresholds: Type.Optional(Thresholds),
  alerts: Type.Optional(Alerts),
}

export const WebhookBody = object({ url: Url, events: Events, ...settings })

export const WebhookChangesBody = object({
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  ...settings,
  enabled: Type.Optional(
    Type.Boolean({
      description: 'Whether messages are queued and sent; `true` also clears past failures',
      examples: [true],
    }),
  ),
})

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] })

const HealthSchema = object({
  status: Type.Enum(['ok', 'waiting', 'failing', 'disabled'], {
    description:
      '`ok`: the last attempt was accepted. `waiting`: no attempt yet, or none since it was enabled or its ' +
      'address changed. `failing`: the last attempt failed. `disabled`: nothing is sent.',
    examples: ['ok'],
  }),
  failures: count('Consecutive failed attempts'),
  failing_since: Type.Optional(time('Time of the first of these failures')),
  last_attempt_at: Type.Optional(time('Time of the last attempt')),
  last_delivered_at: Type.Optional(time('Time of the last accepted message')),
  overflowing_since: Type.Optional(
    time(
      `Since when more than ${webhookOpenDeliveriesMax} deliveries waited; those that wait longest become dead. Absent ` +
        'again once half as many wait and further messages come',
    ),
  ),
  pending: count(`Deliveries to attempt, counted up to ${webhookHealthCountMax}`),
  dead: count(`Dead deliveries, counted up to ${webhookHealthCountMax}`),
})

export const WebhookSchema = object({
  webhook_id: WebhookId,
  url: Url,
  events: Events,
  ...settings,
  enabled: Type.Boolean({ description: 'Whether messages are queued and sent', examples: [true] }),
  disabled_at: Type.Optional(time('When it was disabled')),
  disabled_reason: Type.Optional(
    Type.Enum(['by_hand', 'gone', 'failing'], {
      description: `\`gone\`: the receiver answered 410. \`failing\`: every attempt of ${webhookFailingHoursMax} hours failed.`,
      examples: ['failing'],
    }),
  ),
  created_at: time('Time of creation'),
  created_by: Type.String({ description: 'Subject that created it', examples: ['usr_Ab3xQ8ZrT2vYw0LxNp6BdHs9'] }),
  updated_at: time('Time of the last change'),
  former_secret_until: Type.Optional(time('Until this time each message is also signed with the previous secret')),
  secret: Type.Optional(
    Type.String({
      description: 'Secret that signs messages, returned only when it is created',
      examples: ['whsec_J4kQ8ZrT2vYw0LxNp6BdHs9AJ4kQ8ZrT2vYw0LxNp6Bd'],
    }),
  ),
  health: HealthSchema,
})

export const WebhookList = object({ items: Type.Array(WebhookSchema), next_cursor: NextCursor })

export const RemovedWebhook = object({ webhook_id: WebhookId, removed_at: time('When the endpoint was removed') })

export const webhookLocation = { location: Type.String({ description: 'The endpoint' }) }

export const WebhookParams = object({ webhook_id: WebhookId })
