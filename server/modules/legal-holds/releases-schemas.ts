import { Type } from 'typebox'
import { NextCursor } from '../../../contract/response-schemas.ts'
import { object, timestamp, uuid } from '../../records/record-schemas.ts'

export const ReleaseBody = object({
  reason: Type.String({ minLength: 1, maxLength: 500, examples: ['Case 17 is closed'] }),
  expires_at: Type.Optional(timestamp('End of the release; without it, it does not end')),
})

export const ReleaseSchema = object({
  release_id: uuid('Id of the release'),
  record_id: uuid('The governance event that may now be purged'),
  reason: Type.String(),
  created_at: timestamp('Begin of the release'),
  expires_at: Type.Optional(timestamp('End of the release')),
})

export const ReleaseList = object({
  items: Type.Array(
    object({
      ...ReleaseSchema.properties,
      created_by: Type.String({ description: 'Subject of the token', examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }),
    }),
  ),
  next_cursor: NextCursor,
})
