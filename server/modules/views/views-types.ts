import type { ViewPage } from '../../../contract/saved-views.ts'
import type { Caller } from '../../http/caller.ts'

/** A view as the caller sends it. */
export interface ViewSettings {
  page: ViewPage
  name: string
  /** The query of the page's address, without the question mark. */
  query: string
  shared?: boolean
}

export type ViewChanges = Partial<Pick<ViewSettings, 'name' | 'query' | 'shared'>>

export interface SavedView extends Required<ViewSettings> {
  view_id: string
  /** Whether the view belongs to the caller. The owner's identity is not revealed. */
  own: boolean
  created_at: string
  updated_at: string
}

/** Manages the saved views that a caller sees: their own, and those that others share. */
export interface SavedViews {
  /** Returns a page of views, by name. */
  list(
    caller: Caller,
    wanted: { page: ViewPage | undefined; limit: number; cursor: string | undefined },
  ): Promise<{ items: SavedView[]; next_cursor: string | null }>
  /**
   * Saves a view. Throws `concurrent-modification` if the caller has one with that name, `validation-failed` if there
   * are too many.
   */
  create(caller: Caller, settings: ViewSettings): Promise<SavedView>
  /** Updates a view. Throws the errors of {@link create} and {@link remove}. */
  update(caller: Caller, viewId: string, changes: ViewChanges): Promise<SavedView>
  /**
   * Deletes a view. Throws `not-found` for a view the caller does not see, `insufficient-scope` for another's view that
   * they may not change.
   */
  remove(caller: Caller, viewId: string): Promise<void>
}
