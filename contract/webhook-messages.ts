import { type TObject, Type } from 'typebox'
import { webhookDataBytesMax } from './limits.ts'
import { object } from './object-schema.ts'
import { roleNames } from './roles.ts'
import { governancePrefix, testEventKind } from './webhook-events.ts'

/** The messages that the Hub sends to endpoints: `data` of each type, for the OpenAPI document. */

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-07-01T09:30:00.000000Z'] })
const text = (description: string, example: string) => Type.String({ description, examples: [example] })
const uuid = (description: string) =>
  Type.String({ format: 'uuid', description, examples: ['019a2f64-51c8-7a10-8d42-5b1f0e9c7a64'] })
const names = (description: string, ...examples: string[]) =>
  Type.Array(Type.String(), { description, examples: [examples] })
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const number = (description: string, example: number) => Type.Number({ description, examples: [example] })

/** Present only in messages whose data has no fixed size. */
const truncated = Type.Optional(
  Type.Literal(true, {
    description: `The largest members were omitted, because the data exceeded ${webhookDataBytesMax / 1024} KiB; absent otherwise`,
  }),
)

const person = {
  user_id: text('Id of the person in the Hub', 'usr_9QmVb3xQ8ZrT2vYw0LxNp6Bd'),
  user_name: Type.Optional(text('Name in the directory', 'kim')),
  external_id: Type.Optional(text('Id in the directory', '00u1a2b3')),
  email: Type.Optional(text('Absent if unknown', 'kim@acme.example')),
  display_name: Type.Optional(text('The whole name', 'Kim Reyes')),
  role: Type.Enum(roleNames, { description: 'In the Hub', examples: ['member'] }),
  active: Type.Boolean({ description: 'Whether they can sign in', examples: [true] }),
  archetype_ids: Type.Optional(names('Archetypes of the person; absent only if `truncated`', 'analyst')),
  source: Type.Enum(['directory', 'manual'], {
    description: 'Whether the person is managed by the directory or by administrators',
    examples: ['directory'],
  }),
  truncated,
}

const invocation = object(
  {
    record_id: uuid('The record of the invocation'),
    skill_id: text('The skill', 'contract-review'),
    skill_version: Type.Optional(text('Its version', '1.4.0')),
    archetype_id: text('The archetype', 'legal-counsel'),
    user_id: text('User who invoked the skill, as the sender names them', 'user:kim@acme.example'),
    llm_platform: Type.Optional(text('Platform of the invocation', 'slack')),
    llm_model: Type.Optional(text('Model of the invocation', 'claude-sonnet-4-5')),
    ts: Type.Optional(time('Time of the invocation')),
    success: Type.Optional(Type.Boolean({ description: 'Whether it succeeded', examples: [false] })),
    latency_ms: Type.Optional(number('Latency in milliseconds', 24_100)),
    tokens_in: Type.Optional(count('Input tokens', 812)),
    tokens_out: Type.Optional(count('Output tokens', 40)),
    cost_usd_estimate: number('Reported cost in US dollars', 0.0031),
    cost_usd_computed: Type.Optional(number('Calculated cost; absent without a price', 0.0034)),
    error_code: Type.Optional(text('Error code of the failure', 'timeout')),
  },
  { description: "In Mode B, only members that are not encrypted with the customer's key." },
)

const alert = {
  alert_id: uuid('Equal when the alert opens and closes'),
  metric: Type.Enum(['error_rate', 'latency_p95_ms', 'cost_usd_per_hour'], {
    description: 'Name of the rule',
    examples: ['error_rate'],
  }),
  group_by: Type.Enum(['skill', 'user', 'archetype'], { description: 'Name of the rule', examples: ['skill'] }),
  key: text('The skill, person or archetype', 'contract-review'),
  value: number('Value of the metric in the window: a ratio, milliseconds, or US dollars per hour', 0.31),
  threshold: number('`above` of the rule', 0.2),
  window_minutes: Type.Integer({ description: 'Name of the rule', examples: [60] }),
  window: object({ from: time('Its beginning'), to: time('Its end') }, { description: 'Scope of the alert' }),
  invocations: count('In the window', 412),
  opened_at: time('When it opened'),
}

const budget = {
  budget_id: text('The budget', 'bud_7Kd2mQx9RtVb4LhZs8WcNp3F'),
  name: text('Name of the budget', 'Support team'),
  threshold: count('The reached threshold, in percent of the amount', 80),
  amount_usd: number('Amount of the budget in US dollars', 500),
  spent_usd: number('Cost in the period when the threshold was found to be reached', 412.5),
  forecast_usd: number('Forecast of the cost of the whole period', 690.1),
  basis: Type.Enum(['reported', 'calculated'], { description: 'Cost that counts', examples: ['reported'] }),
  period: Type.Enum(['day', 'week', 'month'], { description: 'Length of the period', examples: ['month'] }),
  time_zone: text('IANA time zone in which the period begins', 'Europe/Berlin'),
  period_start: time('Beginning of the period'),
  period_end: time('End of the period, exclusive'),
}

const governance = object(
  {
    record_id: uuid('The record of the event'),
    event_kind: text('Same as in the record', 'auth.login'),
    subject: Type.Optional(text('Subject of the event', 'user:usr_9QmVb3xQ8ZrT2vYw0LxNp6Bd')),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'By kind', examples: [{ method: 'magic_link' }] }),
    ),
    created_at: time('Creation time of the record'),
    created_by: text('Creator of the record', 'service:hub'),
    provenance_hash: text('Hash of the canonical text of the record', 'sha256:'.padEnd(71, '0')),
    truncated,
  },
  { description: 'In Mode B, events written by the customer have no subject and details.' },
)

/** A kind of message. */
export interface DescribedMessage {
  kind: string
  summary: string
  data: TObject
}

export const describedMessages: readonly DescribedMessage[] = [
  { kind: 'user.provisioned', summary: 'A person was added to the roster', data: object(person) },
  {
    kind: 'user.updated',
    summary: 'Role, name, address or status of a person changed',
    data: object({ ...person, changed: names('Names of the changed members', 'role') }),
  },
  {
    kind: 'user.deactivated',
    summary: 'A person was deactivated, or removed by the directory',
    data: object(person),
  },
  {
    kind: 'user.archetype_changed',
    summary: 'The archetypes of a person changed',
    data: object({
      ...person,
      before: Type.Optional(names('Archetypes before the change; absent only if `truncated`')),
      after: Type.Optional(names('Archetypes after the change; absent only if `truncated`', 'analyst')),
    }),
  },
  { kind: 'skill.invocation_failed', summary: 'An invocation failed', data: invocation },
  {
    kind: 'skill.latency_exceeded',
    summary: 'An invocation took longer than `thresholds.latency_ms` of the endpoint',
    data: invocation,
  },
  {
    kind: 'skill.cost_exceeded',
    summary: 'An invocation cost more than `thresholds.cost_usd` of the endpoint',
    data: invocation,
  },
  { kind: 'skill.alert_opened', summary: 'An alert rule of the endpoint fired', data: object(alert) },
  {
    kind: 'skill.alert_closed',
    summary: 'An alert of the endpoint recovered',
    data: object({ ...alert, closed_at: time('Time of closing') }),
  },
  {
    kind: 'budget.threshold_reached',
    summary: 'A budget reached one of its thresholds',
    data: object(budget),
  },
  { kind: `${governancePrefix}*`, summary: 'A governance event was written', data: governance },
  {
    kind: testEventKind,
    summary: 'Test message of an endpoint',
    data: object({ message: text('Explanation for people', 'A test of this endpoint. Nothing has happened.') }),
  },
]

/** The body of a message. */
export function messageSchema({ kind, data }: DescribedMessage): TObject {
  const isFamily = kind.endsWith('.*')
  return object({
    id: uuid('Id of the message, the same for all endpoints and attempts'),
    kind: isFamily
      ? Type.String({
          pattern: `^${kind.slice(0, -1).replaceAll('.', '\\.')}`,
          description: `\`${governancePrefix}\` and the kind of the event`,
          examples: [`${governancePrefix}auth.login`],
        })
      : Type.Literal(kind, { description: 'Id of the message' }),
    tenant: text('Slug', 'acme'),
    occurred_at: time('When it happened'),
    sequence: Type.Integer({
      minimum: 1,
      description: 'Counts the messages to the endpoint, from 1 and without gaps, in the order they were queued',
      examples: [42],
    }),
    data,
  })
}
