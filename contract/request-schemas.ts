/** Parts of requests that operations of several modules take. */
import { Type } from 'typebox'
import { pageSizeDefault, pageSizeMax } from './limits.ts'
import { patterns } from './literals.ts'

/** Parameters of every list but the Hub query, which has more. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageSizeMax,
        default: pageSizeDefault,
        description: 'Maximum number of items of a page',
      }),
    ),
    cursor: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the previous page' })),
  },
  { additionalProperties: false },
)

/** Headers of operations that return their first response to a repeated call. */
export const IdempotencyHeader = Type.Object(
  {
    'idempotency-key': Type.Optional(
      Type.String({
        pattern: patterns.idempotencyKey,
        description: 'A repeated request with the same key within 24 hours returns the first response',
        examples: ['4f7c1f0e-import-17'],
      }),
    ),
  },
  { additionalProperties: false },
)
