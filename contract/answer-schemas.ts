/** Values that answers of several modules carry. */
import { Type } from 'typebox'

export const ProvenanceHash = Type.String({
  description: '`sha256:` and the hash of the canonical record',
  examples: ['sha256:4e3fded216bc83851e95113fb01eda0701d2f321c948b2f0d4e23ad8ebc688fd'],
})

export const ProvenanceCosign = Type.String({
  description: '`omhc1.` and the self-contained cosignature: verifies with the record and the public key alone',
  examples: [
    'omhc1.Ac5i0zOdodUJKeZOmVVVxT4BmMHIfT96pY4uRV5scr9nAAZHXvZO1YAFAe2ImAQs5dAUtSQaYW3QGLFgpi_pqzzOEN3YOjvxYVdLMz8A' +
      '9jLsXN7ZIYKFZKRQhYtRwPVZL_GkeV-DwuwQDBzjEx4vzaLpKNmRTXevEBAKFy8wEGVRTz1uV2DGRHxCFTl11US2PH4GvkJF2ued0j9HcoyxKhJP' +
      '69-x0uAED4-lyI5uiMKgYXGNg_39leQ8QtcOulGul68ev5tht9yznJr7vOFgNvzEFJfNTxa-WN_b',
  ],
})

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'For `cursor` of the next page; null on the last one',
  examples: [null],
})
