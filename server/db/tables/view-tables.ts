import type { ViewPage } from '../../../contract/saved-views.ts'
import type { Timestamp } from './timestamp.ts'

/** Tables of saved views of the web UI. */
export interface ViewTables {
  'hub.saved_views': {
    tenant_id: string
    view_id: string
    owner: string
    page: ViewPage
    name: string
    name_key: string
    query: string
    /** `user:…` */
    user_ids: string[]
    shared: boolean
    created_at: Timestamp
    updated_at: Timestamp
  }
}
