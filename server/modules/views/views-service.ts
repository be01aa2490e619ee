import type { Static } from 'typebox'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { ownViewsMax, sharedViewsMax } from '../../../contract/limits.ts'
import { scopeNames } from '../../../contract/scopes.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { viewsLockClass } from '../../db/advisory-locks.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { Caller } from '../../http/caller.ts'
import { openPage } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { NewViewBody, ViewChangesBody, ViewList, ViewSchema, ViewsQuery } from './views-schemas.ts'
import * as store from './views-store.ts'

type SavedView = Static<typeof ViewSchema>

export type SavedViews = ReturnType<typeof createSavedViews>

/** Manages the saved views that a caller sees: their own, and those that others share. */
export function createSavedViews(deps: Pick<ModuleParts, 'database' | 'cursorKey'>) {
  const { database, cursorKey } = deps

  /** Serialises changes of a tenant's views, which check names and counts first. */
  function locked<T>(caller: Caller, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return database.withTenant(caller.tenant.slug, async (tx) => {
      await lockTenant(tx, viewsLockClass)
      return work(tx)
    })
  }

  return {
    /** Returns a page of views, by name. */
    async list(caller: Caller, { page, ...asked }: Static<typeof ViewsQuery>): Promise<Static<typeof ViewList>> {
      // The cursor includes the subject, since the next page must belong to the same list.
      const query = { page, subject: caller.subject }
      const binding = { tenant: caller.tenant.slug, operation: 'listViews', query }
      const opened = openPage<store.ViewPosition>(cursorKey, binding, asked)
      const wanted = { owner: caller.subject, page, after: opened.after, count: opened.count }
      const rows = await readTenant(database, caller.tenant.slug, (tx) => store.viewsAfter(tx, wanted))
      const { shown, next_cursor } = opened.of(rows, (last) => [last.name_key, last.view_id])
      return { items: shown.map((row) => toResponse(row, caller)), next_cursor }
    },

    /**
     * Saves a view. Throws `concurrent-modification` if the caller has one with that name, `validation-failed` if there
     * are too many.
     */
    create: (caller: Caller, { page, name, query, shared = false }: Static<typeof NewViewBody>) =>
      locked(caller, async (tx) => {
        const at = formatTimestamp(Date.now())
        const row = {
          ...{ view_id: `view_${randomText(24)}`, owner: caller.subject, page, shared },
          ...columnsOf(name, query),
          ...{ created_at: at, updated_at: at },
        }
        await requireFreeName(tx, row)
        await requireRoomForOwn(tx, caller)
        if (shared) await requireRoomForShared(tx)
        await store.insertView(tx, row)
        return toResponse(row, caller)
      }),

    /** Updates a view. Throws the errors of `create` and `remove`. */
    update: (caller: Caller, viewId: string, changes: Static<typeof ViewChangesBody>) =>
      locked(caller, async (tx) => {
        const before = await changeable(tx, caller, viewId)
        const { name = before.name, query = before.query, shared = before.shared } = changes
        if (name === before.name && query === before.query && shared === before.shared)
          return toResponse(before, caller)
        const after = { ...before, ...columnsOf(name, query), shared, updated_at: formatTimestamp(Date.now()) }
        if (name !== before.name) await requireFreeName(tx, after)
        if (shared && !before.shared) await requireRoomForShared(tx)
        await store.changeView(tx, after)
        return toResponse(after, caller)
      }),

    /**
     * Deletes a view. Throws `not-found` for a view the caller does not see, `insufficient-scope` for another's view that
     * they may not change.
     */
    remove: (caller: Caller, viewId: string) =>
      locked(caller, async (tx) => {
        await changeable(tx, caller, viewId)
        await store.deleteView(tx, viewId)
      }),
  }
}

function columnsOf(name: string, query: string) {
  return { name, name_key: name.toLowerCase(), query, user_ids: usersNamedIn(query) }
}

function toResponse(row: store.ViewRow, caller: Caller): SavedView {
  const { view_id, page, name, query, shared, created_at, updated_at } = row
  return { view_id, page, name, query, shared, own: row.owner === caller.subject, created_at, updated_at }
}

/** Returns a view the caller may change: their own, or a shared one if they hold every scope, as administrators do. */
async function changeable(tx: TenantTx, caller: Caller, viewId: string): Promise<store.ViewRow> {
  const row = await store.viewById(tx, viewId)
  if (row?.owner === caller.subject) return row
  if (!row?.shared) {
    throw new DomainError('not-found', 'You have no view with this id, own or shared. GET /api/v1/views lists them.')
  }
  if (scopeNames.every((scope) => caller.scopes.has(scope))) return row
  throw new DomainError(
    'insufficient-scope',
    'Only its owner or an administrator can change a shared view. Save your own view instead.',
    { extensions: { required_scopes: scopeNames } },
  )
}

async function requireFreeName(tx: TenantTx, row: store.ViewRow): Promise<void> {
  if ((await store.viewNamed(tx, row)) === undefined) return
  throw new DomainError(
    'concurrent-modification',
    'The owner already has a view of this name on this page. Change that one, or choose another name.',
  )
}

async function requireRoomForOwn(tx: TenantTx, { subject }: Caller): Promise<void> {
  if ((await store.countOwn(tx, subject)) < ownViewsMax) return
  const detail = `exceeds the ${ownViewsMax} views of an owner; remove one first`
  throw validationFailed([{ pointer: '', detail }])
}

async function requireRoomForShared(tx: TenantTx): Promise<void> {
  if ((await store.countShared(tx)) < sharedViewsMax) return
  const detail = `exceeds the ${sharedViewsMax} shared views of a tenant; stop sharing one first`
  throw validationFailed([{ pointer: '/shared', detail }])
}

const userPrefix = 'user:'

/**
 * Returns the users (`user:…`) that a page's query contains, without duplicates: as a parameter's value, in a
 * comma-separated list, or inside JSON.
 */
export function usersNamedIn(query: string): string[] {
  const texts = [...new URLSearchParams(query).values()].flatMap((value) => [
    value,
    // A user's id may contain commas itself, so the whole value counts as well.
    ...value.split(','),
    ...textsIn(parsed(value)),
  ])
  return [...new Set(texts.filter((text) => text.startsWith(userPrefix)))]
}

function parsed(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue
  } catch {
    return null
  }
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((member) => (member === undefined ? [] : textsIn(member)))
}
