/** Parts of answers that operations of several modules give. */

import { Type } from 'typebox'
import { patterns } from './literals.ts'
import { object } from './object-schema.ts'

export const ProvenanceHash = Type.String({
  description: '`sha256:` and the hash of the canonical record',
  examples: ['sha256:4e3fded216bc83851e95113fb01eda0701d2f321c948b2f0d4e23ad8ebc688fd'],
})

export const ProvenanceCosign = Type.String({
  description: '`omhc1.` and the self-contained cosignature: verifies with the record and the public key alone',
  examples: [
    'omhc1.Ac5i0zOdodUJKeZOmVVVxT4BmMHIfT96pY4uRV5scr9nAAZHXvZO1YAFAe2ImAQs5dAUtSQaYW3QGLFgpi_pqzzOEN3YOjvxYVdLMz8A9jLsXN7ZIYKFZKRQhYtRwPVZL_GkeV-DwuwQDBzjEx4vzaLpKNmRTXevEBAKFy8wEGVRTz1uV2DGRHxCFTl11US2PH4GvkJF2ued0j9HcoyxKhJP69-x0uAED4-lyI5uiMKgYXGNg_39leQ8QtcOulGul68ev5tht9yznJr7vOFgNvzEFJfNTxa-WN_b',
  ],
})

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'For `cursor` of the next page; null on the last one',
  examples: [null],
})

/** The result of a connection test, step by step. */
export const ConnectionTestResult = object({
  ok: Type.Boolean({ description: 'Whether every step succeeded' }),
  steps: Type.Array(
    object({
      name: Type.String({ examples: ['users'] }),
      ok: Type.Boolean(),
      detail: Type.String({
        description: 'Result, or the fault and its remedy',
        examples: ['GET /Users: 412 people.'],
      }),
    }),
  ),
})

/** The response to a written record. */
export const receiptMembers = {
  record_id: Type.String({
    pattern: patterns.uuid,
    description: 'Id of the new record',
    examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'],
  }),
  provenance_hash: ProvenanceHash,
  provenance_cosign: ProvenanceCosign,
}

export const ReceiptSchema = object(receiptMembers)

/** Header of the answer to a repeated call with an Idempotency-Key. */
export const replayedHeader = {
  'Idempotent-Replayed': Type.Optional(
    Type.Literal('true', { description: 'The response is the one to an earlier request with the same key' }),
  ),
}

const inboundConnectionId = (example: string) =>
  Type.String({
    description: 'For `POST /api/v1/webhooks/inbound/{connection_id}`',
    examples: [example],
  })
const InboundSecret = Type.String({
  description: 'Secret that signs its messages. Returned only here, and only once.',
  examples: ['whsec_7Kd2mQx9RtVb4LhZs8WcNp3F6gTyU1oPaSdEjHkWzQmB'],
})

/** The address to which a connection sends messages. */
export const InboundConnectionSchema = (exampleId: string) =>
  object(
    { connection_id: inboundConnectionId(exampleId), secret: Type.Optional(InboundSecret) },
    { description: 'Settings of its inbound messages' },
  )

/** The response to a rotation of the inbound secret. */
export const RotatedInboundSecretSchema = (exampleId: string) =>
  object({
    connection_id: inboundConnectionId(exampleId),
    secret: InboundSecret,
    former_secret_until: Type.Optional(
      Type.String({
        description: 'The previous secret stays valid until this time; absent if there was none',
        examples: ['2026-07-02T09:30:00.000000Z'],
      }),
    ),
  })
