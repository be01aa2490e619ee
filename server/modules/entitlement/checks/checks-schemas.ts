import { Type } from 'typebox'
import { entitlementChecksMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'

/** Reasons why a user may not use a skill. The first that applies, in this order, is returned. */
const rejectionReasons = [
  'user_unknown',
  'user_deactivated',
  'skill_unknown',
  'skill_not_published',
  'skill_retired',
  'no_archetype',
  'not_granted',
] as const

export const CheckQuery = object({
  user_id: Type.String({
    pattern: '^(user:[^\\s]{1,254}|usr_[A-Za-z0-9]{1,60})$',
    'x-must-be': 'user:<email>, user:<scim_external_id> or the id of a user, usr_…',
    description: 'User id as in telemetry, or the id of the user',
    examples: ['user:kim@acme.example'],
  }),
  skill_id: Type.String({
    pattern: patterns.identifier,
    description: 'Id of the skill',
    examples: ['summarise-ticket'],
  }),
})

export const ChecksBody = object({ checks: Type.Array(CheckQuery, { minItems: 1, maxItems: entitlementChecksMax }) })

export const EntitlementSchema = object({
  user_id: Type.String({ examples: ['user:kim@acme.example'] }),
  skill_id: Type.String({ examples: ['summarise-ticket'] }),
  allowed: Type.Boolean({ description: 'Whether the user may use the skill' }),
  reason: Type.Optional(
    Type.Enum(rejectionReasons, { description: 'Reason for the denial; absent if allowed', examples: ['not_granted'] }),
  ),
  deprecated: Type.Optional(Type.Literal(true, { description: 'The skill is allowed but deprecated' })),
  archetype_ids: Type.Array(Type.String({ examples: ['support-agent'] }), {
    description: 'Archetypes of the user to which the skill is granted',
  }),
})

export const ChecksSchema = object({
  results: Type.Array(EntitlementSchema, { description: 'In the order of the request' }),
})
