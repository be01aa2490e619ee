import { type Static, Type } from 'typebox'
import { holdNameLengthMax, holdRecordsListed, holdRecordsMax, holdsNamedMax } from '../../../contract/limits.ts'
import { object } from '../../../contract/object-schema.ts'
import { recordFilterMembers } from '../../../contract/record-filter.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'
import { exampleId, timestamp, uuid } from '../../records/record-schemas.ts'

const subject = { description: 'Subject of the token', examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }

const time = (description: string) => Type.String({ description, examples: ['2026-03-14T09:26:53.589793Z'] })
const Name = Type.String({
  minLength: 1,
  maxLength: holdNameLengthMax,
  pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
  'x-must-be': `1 to ${holdNameLengthMax} characters without line breaks, or spaces at its ends`,
  description: 'Name of the case or matter',
  examples: ['Case 17'],
})
const reason = (example: string) => Type.String({ minLength: 1, maxLength: 500, examples: [example] })

const { tenant_id: _tenantId, ...storedFilterMembers } = recordFilterMembers

// Opaque to callers: an id of any other form is not found.
export const HoldParams = object({ hold_id: Type.String({ description: 'Id of the hold', examples: [exampleId] }) })

export const PlaceHoldBody = object({
  name: Name,
  reason: reason('Litigation over the renewal of 2025'),
  record_ids: Type.Optional(
    Type.Array(uuid('A record'), {
      minItems: 1,
      maxItems: holdRecordsMax,
      description: 'Ids of the records; duplicates count once. Alternative to `filter` and `all`',
    }),
  ),
  filter: Type.Optional(
    object(recordFilterMembers, {
      description:
        'All matching records, including later ones. Alternative to `record_ids`. At least one condition is ' +
        'required; use `all` for every record',
      examples: [{ record_type: ['output', 'decision'], user_id: 'user:ada@example.com' }],
    }),
  ),
  all: Type.Optional(
    Type.Boolean({
      description:
        '`true` for every record of the tenant, including later ones. Alternative to `record_ids` and `filter`',
    }),
  ),
})
export type PlaceHoldBody = Static<typeof PlaceHoldBody>

export const ReleaseHoldBody = object({ reason: reason('The matter is settled') })

const holdMembers = {
  hold_id: uuid('Id of the hold'),
  name: Type.String({ examples: ['Case 17'] }),
  reason: Type.String({ examples: ['Litigation over the renewal of 2025'] }),
  active: Type.Boolean({ description: 'Not released' }),
  record_count: Type.Optional(
    Type.Integer({ description: 'Number of records in `record_ids`; absent with `filter` and `all`' }),
  ),
  filter: Type.Optional(object(storedFilterMembers, { description: 'Has no members for `all`' })),
  all: Type.Optional(Type.Boolean({ description: '`true` if the hold covers every record of the tenant' })),
  created_at: time('Start time'),
  created_by: Type.String(subject),
  released_at: Type.Optional(time('End time')),
  released_by: Type.Optional(Type.String(subject)),
  release_reason: Type.Optional(Type.String({ examples: ['The matter is settled'] })),
}

export const HoldSchema = object(holdMembers)

export const WholeHoldSchema = object({
  ...holdMembers,
  record_ids: Type.Optional(
    Type.Array(uuid('A record'), {
      description: `The first ${holdRecordsListed} record ids, in ascending order`,
    }),
  ),
})

export const HoldsQuery = object({
  ...PageQuery.properties,
  active: Type.Optional(Type.Boolean({ description: 'Default is both' })),
})

export const HoldList = object({ items: Type.Array(HoldSchema), next_cursor: NextCursor })

export const holdLocation = { Location: Type.String({ examples: [`/api/v1/hub/legal-holds/${exampleId}`] }) }

export const ReleaseBody = object({
  reason: Type.String({ minLength: 1, maxLength: 500, examples: ['Case 17 is closed'] }),
  expires_at: Type.Optional(timestamp('End of the release; no end if absent')),
})

export const ReleaseSchema = object({
  release_id: uuid('Id of the release'),
  record_id: uuid('The governance event that can now be purged'),
  reason: Type.String(),
  created_at: timestamp('Start of the release'),
  expires_at: Type.Optional(timestamp('End of the release')),
})

export const ReleaseList = object({
  items: Type.Array(
    object({
      ...ReleaseSchema.properties,
      created_by: Type.String(subject),
    }),
  ),
  next_cursor: NextCursor,
})

export const RecordStateSchema = object(
  {
    record_id: uuid('Id of the record'),
    is_purged: Type.Boolean({ examples: [true] }),
    purged_at: Type.Optional(time('Time of the purge; absent, like the next three, if the record is not purged')),
    purged_by: Type.Optional(Type.String(subject)),
    purge_reason: Type.Optional(Type.String({ examples: ['Entered twice'] })),
    hard_delete_after: Type.Optional(
      time('End of the recovery period, after which it is erased; absent while a hold pauses it'),
    ),
    holds: Type.Array(object({ hold_id: uuid('Id of the hold'), name: Type.String({ examples: ['Case 17'] }) }), {
      description: `Active legal holds on the record, at most ${holdsNamedMax}`,
    }),
    truncated: Type.Boolean({ description: 'More holds exist than are listed', examples: [false] }),
  },
  { title: 'State of a record' },
)
