import type { ViewPage } from '../../../contract/saved-views.ts'
import type { Caller } from '../../http/caller.ts'

/** What a caller says of a view. */
export interface ViewSettings {
  page: ViewPage
  name: string
  /** Of the page's address, without the question mark. */
  query: string
  shared?: boolean
}

export type ViewChanges = Partial<Pick<ViewSettings, 'name' | 'query' | 'shared'>>

export interface SavedView extends Required<ViewSettings> {
  view_id: string
  /** Whether it is the caller's. Nobody learns whose it is else. */
  own: boolean
  created_at: string
  updated_at: string
}

/** Saved views as one caller sees them: their own, and those that others share. */
export interface SavedViews {
  /** By name. */
  list(
    caller: Caller,
    wanted: { page: ViewPage | undefined; limit: number; cursor: string | undefined },
  ): Promise<{ items: SavedView[]; next_cursor: string | null }>
  /** Throws `concurrent-modification` where the caller has one of that name, `validation-failed` where there are too many. */
  create(caller: Caller, settings: ViewSettings): Promise<SavedView>
  /** Throws what {@link create} and {@link remove} throw. */
  update(caller: Caller, viewId: string, changes: ViewChanges): Promise<SavedView>
  /** Throws `not-found` for what the caller does not see, `insufficient-scope` for another's that they may not change. */
  remove(caller: Caller, viewId: string): Promise<void>
}
