import { type TSchema, Type } from 'typebox'
import { emailLengthMax } from '../../../contract/email-address.ts'
import { inboundMessageDays, scimNameLengthMax } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

export const invocationKind = 'skill.invoked'
export const personKinds = ['user.provisioned', 'user.updated', 'user.deactivated'] as const
export type PersonKind = (typeof personKinds)[number]

export const InboundParams = object({
  connection_id: Type.String({
    description: '`inbound.connection_id` of the connector or of the SCIM configuration',
    examples: ['con_7Kd2mQx9RtVb4LhZs8WcNp3F'],
  }),
})

// Contains at least one visible character.
const line = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: scimNameLengthMax,
    pattern: '^[^\\p{C}]*[^\\s\\p{C}][^\\p{C}]*$',
    'x-must-be': `1 to ${scimNameLengthMax} characters without line breaks, not only spaces`,
    description,
    examples: [example],
  })

/** Member `data` of messages about a person. */
export const PersonData = object(
  {
    user_name: line(
      'Name of the person at the identity provider. Required except for `user.deactivated` with `external_id`.',
      'kim@acme.example',
    ),
    external_id: Type.Optional(
      line('Id of the person at the identity provider. People are matched by this id, else by the name.', '00u1a2b3'),
    ),
    email: Type.Optional(
      Type.String({
        maxLength: emailLengthMax,
        pattern: patterns.email,
        'x-must-be': patternWords[patterns.email],
        examples: ['kim@acme.example'],
      }),
    ),
    display_name: Type.Optional(line('Display name', 'Kim Reyes')),
    given_name: Type.Optional(line('First name', 'Kim')),
    family_name: Type.Optional(line('Last name', 'Reyes')),
    active: Type.Optional(
      Type.Boolean({
        description: 'Defaults to true with `user.provisioned`; unchanged if absent with `user.updated`',
        examples: [true],
      }),
    ),
  },
  { description: 'Data of `user.*`. Absent members stay unchanged.' },
)

const InvocationData = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Data of `skill.invoked`: a telemetry event as for `POST /api/v1/telemetry/events`. `llm_platform` defaults ' +
    'to that of the connector.',
  examples: [
    {
      skill_id: 'summarise-ticket',
      skill_version: '1.4.0',
      archetype_id: 'support-agent',
      user_id: 'user:kim@acme.example',
      ts: '2026-01-05T09:30:00.123456Z',
      success: true,
      latency_ms: 1840,
      tokens_in: 1250,
      tokens_out: 310,
      cost_usd_estimate: 0.0084,
    },
  ],
})

const messageOf = (kind: TSchema, data: TSchema) =>
  object({
    id: Type.String({
      pattern: patterns.idempotencyKey,
      description: `Id of the message, chosen by the sender. A repeated id within ${inboundMessageDays} days has no effect.`,
      examples: ['evt_019a2f64'],
    }),
    kind,
    occurred_at: Type.String({
      format: 'date-time',
      description: 'Time of the event, RFC 3339. Messages take effect in the order of their arrival.',
      examples: ['2026-01-05T09:30:00.123456Z'],
    }),
    data,
  })

/** The handler validates kind and data by the type of the connection. */
export const InboundMessageSchema = messageOf(Type.String(), Type.Record(Type.String(), Type.Unknown()))

/** Makes the name optional: `user.deactivated` accepts an external id alone. */
const DescribedPerson = object(
  { ...PersonData.properties, user_name: Type.Optional(PersonData.properties.user_name) },
  { description: 'Data of `user.*`. Absent members stay unchanged.' },
)

/** The body for the API description. */
export const InboundBody = messageOf(
  Type.Enum([invocationKind, ...personKinds], {
    description: '`skill.invoked` for a connector, the others for the SCIM configuration',
    examples: ['user.provisioned'],
  }),
  Type.Union([DescribedPerson, InvocationData]),
)

export const InboundResponse = object({
  id: Type.String({ description: 'Id of the message', examples: ['evt_019a2f64'] }),
  status: Type.Enum(['accepted', 'duplicate'], {
    description:
      '`duplicate`: a message with this id was accepted before. This one has no effect, even if its content differs.',
    examples: ['accepted'],
  }),
})
