import { Type } from 'typebox'
import { retentionDaysMax } from '../../../contract/limits.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

const days = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: retentionDaysMax, description, examples: [example] }))

const RuleSchema = object({
  record_type: Type.Enum([...recordTypes], { examples: ['output'] }),
  min_days: days('Younger records of the type cannot be purged', 365),
  max_days: days('The service purges older records of the type, unless a hold covers them', 2555),
})

const Rules = Type.Array(RuleSchema, {
  maxItems: recordTypes.length,
  description: 'At most one rule for each record type',
})
const fourEyes = {
  description: 'A person who releases a governance event or a hold cannot purge the same record',
  examples: [true],
}

export const RetentionBody = object({
  rules: Rules,
  four_eyes: Type.Optional(Type.Boolean({ ...fourEyes, description: `${fourEyes.description}; unchanged if absent` })),
})

export const RetentionSchema = object({ rules: Rules, four_eyes: Type.Boolean(fourEyes) })

export const warningHeader = {
  warning: Type.String({
    description: 'Present if a rule purges records before they are six months old (RFC 7234, section 5.5)',
    examples: ['299 - "telemetry_event records are purged after 90 days; laws may ask for logs of six months"'],
  }),
}
