import { type TSchema, Type } from 'typebox'
import { emailLengthMax } from '../../../contract/email-address.ts'
import { inboundMessageDays, scimNameLengthMax } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'

export const invocationKind = 'skill.invoked'
export const personKinds = ['user.provisioned', 'user.updated', 'user.deactivated'] as const
export type PersonKind = (typeof personKinds)[number]

export const InboundParams = Type.Object(
  {
    connection_id: Type.String({
      description: 'Of the connector, or of the SCIM configuration: `inbound.connection_id` of their answers',
      examples: ['con_7Kd2mQx9RtVb4LhZs8WcNp3F'],
    }),
  },
  { additionalProperties: false },
)

const messageOf = (kind: TSchema) =>
  Type.Object(
    {
      id: Type.String({
        pattern: patterns.idempotencyKey,
        description: `Of the message, chosen by who sends it. The same again within ${inboundMessageDays} days has no effect.`,
        examples: ['evt_019a2f64'],
      }),
      kind,
      occurred_at: Type.String({
        format: 'date-time',
        description: 'When it happened, RFC 3339. Messages take effect in the order in which they come.',
        examples: ['2026-01-05T09:30:00.123456Z'],
      }),
      data: Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Of `skill.invoked` a telemetry event, as `POST /api/v1/telemetry/events` takes it; without `llm_platform` it ' +
          'is that of the connector. Of the others a person: `user_name`, and where they are known `external_id`, ' +
          '`email`, `display_name`, `given_name`, `family_name`, `active`.',
        examples: [{ user_name: 'kim@example.com', external_id: '00u1a2b3', display_name: 'Kim Reyes' }],
      }),
    },
    { additionalProperties: false },
  )

/** The kind is checked by which connection it came from. */
export const InboundMessageSchema = messageOf(Type.String())

/** As it is described. */
export const InboundBody = messageOf(
  Type.Enum([invocationKind, ...personKinds], {
    description: 'Of a connector `skill.invoked`, of the SCIM configuration the others',
    examples: ['user.provisioned'],
  }),
)

export const InboundAnswer = Type.Object(
  {
    id: Type.String({ description: 'Of the message', examples: ['evt_019a2f64'] }),
    status: Type.Enum(['accepted', 'duplicate'], {
      description: '`duplicate`: a message of this id was taken before; this one has no effect, whatever it says.',
      examples: ['accepted'],
    }),
  },
  { additionalProperties: false },
)

// A line of text with something to be seen in it.
const Line = Type.String({
  minLength: 1,
  maxLength: scimNameLengthMax,
  pattern: '^[^\\p{C}]*[^\\s\\p{C}][^\\p{C}]*$',
  'x-must-be': `1 to ${scimNameLengthMax} characters without line breaks, not only spaces`,
})

/** `data` of what is about a person. */
export const PersonData = Type.Object(
  {
    user_name: Line,
    external_id: Type.Optional(Line),
    email: Type.Optional(
      Type.String({
        maxLength: emailLengthMax,
        pattern: patterns.email,
        'x-must-be': patternWords[patterns.email],
      }),
    ),
    display_name: Type.Optional(Line),
    given_name: Type.Optional(Line),
    family_name: Type.Optional(Line),
    active: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
