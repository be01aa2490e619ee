import { Type } from 'typebox'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { ReleaseSchema } from '../hub-schemas.ts'

export const ReleaseList = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          ...ReleaseSchema.properties,
          created_by: Type.String({ description: 'Subject of the token', examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }),
        },
        { additionalProperties: false },
      ),
    ),
    next_cursor: NextCursor,
  },
  { additionalProperties: false },
)
