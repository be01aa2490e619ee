import { Type } from 'typebox'
import { massDeactivation } from '../../../../contract/limits.ts'
import { object } from '../../../../contract/object-schema.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

const exampleId = 'sync_7Kd2mQx9RtVb4LhZs8WcNp3F'
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-14T09:26:53.589793Z'] })
const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] })

const SyncId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the sync', examples: [exampleId] })
const percent = massDeactivation.share * 100
const Status = Type.Enum(['queued', 'running', 'awaiting_confirmation', 'completed', 'failed', 'cancelled'], {
  description: `\`awaiting_confirmation\`: all changes are applied except deactivations, because they affect more than ${massDeactivation.people} people and ${percent} % of the active ones, or the responses of the directory were doubtful`,
  examples: ['completed'],
})

export const SyncParams = object({ sync_id: SyncId })

export const StartedSync = object({ sync_id: SyncId, status: Status })

export const SyncSchema = object({
  sync_id: SyncId,
  mode: Type.Enum(['push', 'pull'], { examples: ['pull'] }),
  status: Status,
  created_at: time('Time of the request'),
  created_by: Type.String({
    description: 'Subject that requested the sync; `service:hub` for the sync of every 30 minutes',
  }),
  started_at: Type.Optional(time('Start of the work')),
  finished_at: Type.Optional(time('End of the sync, with any result')),
  progress: object({
    done: count('Entries that were read and applied', 5000),
    total: Type.Optional(count('Total that the directory has reported; groups are read after all people', 5012)),
  }),
  added: count('New people', 12),
  updated: count('Changed people', 3),
  deactivated: count('People that are absent or inactive in the directory', 1),
  unmatched: count('Active people without an archetype at the end'),
  skipped: count('Entries that could not be read or stored'),
  skipped_entries: Type.Optional(
    Type.Array(
      object({
        resource: Type.Enum(['Users', 'Groups'], { examples: ['Users'] }),
        place: Type.Integer({
          description: 'Position in the list of the directory, from 1 (`startIndex`)',
          examples: [17],
        }),
        reason: Type.String({ examples: ['has no userName'] }),
      }),
      { description: 'The first 20 entries' },
    ),
  ),
  kept_active: Type.Optional(
    Type.Array(Type.String({ examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }), {
      description:
        'Last administrators that are inactive in the directory: they stay active, because the tenant needs one',
    }),
  ),
  to_deactivate: Type.Optional(count('People that the sync would deactivate', 1200)),
  confirmation_reason: Type.Optional(
    Type.String({ description: 'Reason for the confirmation', examples: ['The directory has no people.'] }),
  ),
  confirmed_at: Type.Optional(time('Time of the confirmation')),
  confirmed_by: Type.Optional(Type.String({ examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] })),
  error: Type.Optional(
    object({
      detail: Type.String({ examples: ['GET /Users: the directory responded 503, not 200. This happened 6 times.'] }),
    }),
  ),
})

export const SyncList = object({ items: Type.Array(SyncSchema), next_cursor: NextCursor })

export const syncLocation = { location: Type.String({ description: 'The sync' }) }
