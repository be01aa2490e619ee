import { Type } from 'typebox'
import { patterns, tenantModes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

/** Maximum in days: a hundred years. */
const retentionDaysMax = 36_525

const RetentionDays = Type.Integer({
  minimum: 1,
  maximum: retentionDaysMax,
  description: 'Requested retention in days. This version stores it but deletes nothing by it',
  examples: [2555],
})

export const ProvisionBody = object({
  retention_days: Type.Optional(RetentionDays),
  cmek: Type.Optional(
    object(
      {
        provider: Type.Enum(['local', 'aws-kms', 'vault']),
        key_ref: Type.String({
          minLength: 1,
          maxLength: 2048,
          pattern: '^[\\x21-\\x7e]+$',
          description:
            'Name of the key at its provider: any name for local; an id, alias or ARN of AWS KMS; a key of ' +
            'Vault’s transit engine. For AWS and Vault only keys that the operator allows the tenant',
          examples: ['alias/hub/acme'],
        }),
      },
      {
        description:
          'Customer key that encrypts the content of the tenant. Required in Mode B and only allowed there. A ' +
          'change rewraps the content keys.',
      },
    ),
  ),
})

export const ProvisionResponse = object({
  tenant: Type.String({ pattern: patterns.tenantSlug, examples: ['acme'] }),
  mode: Type.Enum(tenantModes),
  provisioned: Type.Boolean(),
  provisioned_at: Type.Optional(Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] })),
  retention_days: Type.Optional(RetentionDays),
  cmek: Type.Optional(
    object({
      provider: Type.Enum(['local', 'aws-kms', 'vault']),
      key_ref: Type.String({ examples: ['alias/hub/acme'] }),
      key_id: Type.String({
        description: 'Id of the current content key',
        examples: ['ck_6f1e9b0a2c3d4e5f60718293'],
      }),
      created_at: Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] }),
      wrapped_at: Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] }),
      content_keys: Type.Integer({
        description: 'Number of content keys that still decrypt content',
        examples: [1],
      }),
    }),
  ),
})
