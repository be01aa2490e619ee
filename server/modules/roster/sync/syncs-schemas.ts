import { type TProperties, Type } from 'typebox'
import { massDeactivation } from '../../../../contract/limits.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

const exampleId = 'sync_7Kd2mQx9RtVb4LhZs8WcNp3F'
const object = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-14T09:26:53.589793Z'] })
const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] })

const SyncId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the sync', examples: [exampleId] })
const percent = massDeactivation.share * 100
const Status = Type.Enum(['queued', 'running', 'awaiting_confirmation', 'completed', 'failed', 'cancelled'], {
  description:
    '`awaiting_confirmation`: everything is applied but deactivations, which are more than ' +
    `${massDeactivation.people} people and ${percent} % of the active, or rest on doubtful answers`,
  examples: ['completed'],
})

export const SyncParams = object({ sync_id: SyncId })

export const StartedSync = object({ sync_id: SyncId, status: Status })

export const SyncSchema = object({
  sync_id: SyncId,
  mode: Type.Enum(['push', 'pull'], { examples: ['pull'] }),
  status: Status,
  created_at: time('When it was ordered'),
  created_by: Type.String({
    description: 'Subject that requested the sync; `service:hub` for the sync of every 30 minutes',
  }),
  started_at: Type.Optional(time('When the work began')),
  finished_at: Type.Optional(time('When it ended, however')),
  progress: object({
    done: count('Entries that were read and applied', 5000),
    total: Type.Optional(count('Total that the directory reported so far; groups follow after all people', 5012)),
  }),
  added: count('People who are new', 12),
  updated: count('People who changed', 3),
  deactivated: count('People that the directory no longer has, or has as inactive', 1),
  unmatched: count('Active people without any archetype, at the end'),
  skipped: count('Entries that could not be read or kept'),
  skipped_entries: Type.Optional(
    Type.Array(
      object({
        resource: Type.Enum(['Users', 'Groups'], { examples: ['Users'] }),
        place: Type.Integer({ description: 'In the list of the directory, from 1: its `startIndex`', examples: [17] }),
        reason: Type.String({ examples: ['has no userName'] }),
      }),
      { description: 'The first 20 of them' },
    ),
  ),
  kept_active: Type.Optional(
    Type.Array(Type.String({ examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }), {
      description: 'Last administrators whom the directory has as inactive: they stay, for the tenant needs one',
    }),
  ),
  to_deactivate: Type.Optional(count('People that it would deactivate', 1200)),
  confirmation_reason: Type.Optional(
    Type.String({ description: 'Why it asks', examples: ['The directory has no people at all.'] }),
  ),
  confirmed_at: Type.Optional(time('When somebody confirmed it')),
  confirmed_by: Type.Optional(Type.String({ examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] })),
  error: Type.Optional(
    object({
      detail: Type.String({ examples: ['GET /Users: the directory answered 503, not 200. So it was 6 times.'] }),
    }),
  ),
})

export const SyncList = object({ items: Type.Array(SyncSchema), next_cursor: NextCursor })

export const syncLocation = { location: Type.String({ description: 'The sync' }) }
