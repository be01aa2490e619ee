/** Parts of requests that operations of several modules take. */

import { Type } from 'typebox'
import { displayNameLengthMax, pageSizeDefault, pageSizeMax } from './limits.ts'
import { patterns } from './literals.ts'
import { object } from './object-schema.ts'

/** The name of something, for people. */
export const displayName = (options: { description?: string; examples: [string] }) =>
  Type.String({
    maxLength: displayNameLengthMax,
    pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
    'x-must-be': `1 to ${displayNameLengthMax} characters without line breaks, or spaces at its ends`,
    ...options,
  })

/** Parameters of every list but the Hub query, which has more. */
export const PageQuery = object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMax,
      default: pageSizeDefault,
      description: 'Maximum number of items of a page',
    }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the previous page' })),
})

/** Headers of operations that return their first response to a repeated call. */
export const IdempotencyHeader = object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: patterns.idempotencyKey,
      description: 'A repeated request with the same key within 24 hours returns the first response',
      examples: ['4f7c1f0e-import-17'],
    }),
  ),
})
