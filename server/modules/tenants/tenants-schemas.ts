import { Type } from 'typebox'
import { patterns, tenantModes } from '../../../contract/literals.ts'

/** A hundred years. */
const retentionDaysMax = 36_525

const RetentionDays = Type.Integer({
  minimum: 1,
  maximum: retentionDaysMax,
  description: 'Days for which the tenant wants records kept. This version stores it and deletes nothing by it',
  examples: [2555],
})

export const ProvisionBody = Type.Object(
  {
    retention_days: Type.Optional(RetentionDays),
    cmek: Type.Optional(
      Type.Object(
        {
          provider: Type.Enum(['local', 'aws-kms', 'vault']),
          key_ref: Type.String({ minLength: 1, maxLength: 2048 }),
        },
        { additionalProperties: false, description: 'Customer-managed encryption key. Mode B only.' },
      ),
    ),
  },
  { additionalProperties: false },
)

export const ProvisionAnswer = Type.Object(
  {
    tenant: Type.String({ pattern: patterns.tenantSlug, examples: ['acme'] }),
    mode: Type.Enum(tenantModes),
    provisioned: Type.Boolean(),
    provisioned_at: Type.Optional(Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] })),
    retention_days: Type.Optional(RetentionDays),
  },
  { additionalProperties: false },
)
