import { type Operation, scope } from './operation.ts'

/** Roles that can open a page of the web UI. */
const viewer = scope('hub:read', 'telemetry:read')

/** Saved views of the web UI. */
export const viewOperations = {
  listViews: {
    method: 'GET',
    path: '/api/v1/views',
    access: viewer,
    rateClass: 'hub-read',
    tag: 'Saved views',
    summary: 'List your own views and those shared with the tenant',
  },
  createView: {
    method: 'POST',
    path: '/api/v1/views',
    access: viewer,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Saved views',
    summary: 'Save the state of a page under a name',
  },
  updateView: {
    method: 'PATCH',
    path: '/api/v1/views/{view_id}',
    access: viewer,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Saved views',
    summary: 'Rename, replace or share a view',
  },
  removeView: {
    method: 'DELETE',
    path: '/api/v1/views/{view_id}',
    access: viewer,
    rateClass: 'hub-write',
    tag: 'Saved views',
    summary: 'Remove a view',
  },
} as const satisfies Record<string, Operation>
