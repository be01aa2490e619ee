import { Type } from 'typebox'
import { holdsNamedMax } from '../../../contract/limits.ts'
import { uuid } from '../../records/record-schemas.ts'

const time = (description: string) => Type.String({ description, examples: ['2026-03-14T09:26:53.589793Z'] })

export const RecordStateSchema = Type.Object(
  {
    record_id: uuid('Id of the record'),
    is_purged: Type.Boolean({ examples: [true] }),
    purged_at: Type.Optional(time('When it was purged; absent, as the next three, unless it is')),
    purged_by: Type.Optional(
      Type.String({ description: 'Subject of the token', examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }),
    ),
    purge_reason: Type.Optional(Type.String({ examples: ['Entered twice'] })),
    hard_delete_after: Type.Optional(
      time('It can be restored until then, and is erased afterwards; absent also while a hold stops the clock'),
    ),
    holds: Type.Array(
      Type.Object(
        { hold_id: uuid('Id of the hold'), name: Type.String({ examples: ['Case 17'] }) },
        { additionalProperties: false },
      ),
      { description: `Legal holds over it that are in force, ${holdsNamedMax} at most` },
    ),
    truncated: Type.Boolean({ description: 'There are more holds than are named', examples: [false] }),
  },
  { additionalProperties: false, title: 'State of a record' },
)
