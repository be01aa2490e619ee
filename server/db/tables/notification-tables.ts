import type { Timestamp } from './timestamp.ts'

/** Table of the read positions of notifications. */
export interface NotificationTables {
  'hub.notification_positions': {
    tenant_id: string
    /** Subject of the reader's tokens. */
    reader: string
    /** Id of the newest governance event that is read. */
    read_through: string
    read_at: Timestamp
  }
}
