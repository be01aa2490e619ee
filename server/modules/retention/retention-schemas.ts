import { Type } from 'typebox'
import { retentionDaysMax } from '../../../contract/limits.ts'
import { recordTypes } from '../../../contract/literals.ts'

const days = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: retentionDaysMax, description, examples: [example] }))

const RuleSchema = Type.Object(
  {
    record_type: Type.Enum([...recordTypes], { examples: ['output'] }),
    min_days: days('Records of the type that are younger cannot be purged', 365),
    max_days: days('Records of the type that are older are purged by the service, unless a hold is over them', 2555),
  },
  { additionalProperties: false },
)

const Rules = Type.Array(RuleSchema, { maxItems: recordTypes.length, description: 'At most one for each record type' })
const fourEyes = {
  description: 'The person who releases a governance event, or a hold over a record, must not purge that record',
  examples: [true],
}

export const RetentionBody = Type.Object(
  {
    rules: Rules,
    four_eyes: Type.Optional(
      Type.Boolean({ ...fourEyes, description: `${fourEyes.description}; unchanged if absent` }),
    ),
  },
  { additionalProperties: false },
)

export const RetentionSchema = Type.Object(
  { rules: Rules, four_eyes: Type.Boolean(fourEyes) },
  { additionalProperties: false },
)
