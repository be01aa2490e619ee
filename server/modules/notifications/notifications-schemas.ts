import { Type } from 'typebox'
import { notificationDays, notificationsPerKind } from '../../../contract/limits.ts'
import { notificationKinds } from '../../../contract/notification-kinds.ts'
import { object } from '../../../contract/object-schema.ts'
import { exampleId, timestamp, uuid } from '../../records/record-schemas.ts'

export const NotificationList = object({
  items: Type.Array(
    object({
      record_id: uuid('The governance event'),
      event_kind: Type.String({
        description: `One of ${notificationKinds.map((kind) => `\`${kind}\``).join(', ')}. Later versions may add kinds`,
        examples: ['budget.threshold_reached'],
      }),
      subject: Type.Optional(
        Type.String({ description: 'The object that it concerns', examples: ['budget:bud_7Kd2mQx9RtVb4LhZs8WcNp3F'] }),
      ),
      details: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Details of the event; their members depend on its kind',
        examples: [{ name: 'Support', threshold: 80 }],
      }),
      created_at: timestamp('Time of the event'),
      read: Type.Boolean({ description: 'Whether you have marked it or a later one as read', examples: [false] }),
    }),
    {
      description: `The newest ${notificationsPerKind} of each kind in the last ${notificationDays} days, the newest first`,
    },
  ),
  unread_count: Type.Integer({
    minimum: 0,
    maximum: notificationKinds.length * notificationsPerKind,
    description: 'Number of unread notifications in `items`',
    examples: [3],
  }),
})

export const ReadBody = object({
  record_id: { ...uuid('The newest notification that is read'), examples: [exampleId] },
})
