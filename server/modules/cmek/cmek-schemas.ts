import { Type } from 'typebox'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-14T09:26:53.589793Z'] })
const KeyId = Type.String({ description: 'Id of a content key', examples: ['ck_6f1e9b0a2c3d4e5f60718293'] })
const tenant = Type.String({ pattern: patterns.tenantSlug, examples: ['acme'] })

export const RotatedResponse = object({
  provider: Type.Enum(['local', 'aws-kms', 'vault']),
  key_ref: Type.String({ examples: ['alias/hub/acme'] }),
  key_id: KeyId,
  created_at: timestamp('Time of creation of the current content key'),
  wrapped_at: timestamp('Time of the last wrapping'),
  content_keys: Type.Integer({ description: 'Number of content keys that still decrypt content', examples: [2] }),
})

export const DestroyBody = object({
  confirm: Type.String({ minLength: 1, maxLength: 64, description: 'The slug of the tenant', examples: ['acme'] }),
  reason: Type.String({ minLength: 1, maxLength: 500, examples: ['The contract has ended.'] }),
})

export const DestroyedResponse = object({
  tenant,
  destroyed_at: timestamp('Time from which the content cannot be decrypted'),
  key_ids: Type.Array(KeyId, { description: 'Destroyed content keys' }),
  event_id: Type.String({
    pattern: patterns.uuid,
    description: 'The governance event that records it',
    examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'],
  }),
})
