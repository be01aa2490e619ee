import type { JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { EventBus } from '../../../event-bus.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TokenRevoker } from '../../auth/auth-types.ts'
import type { Actor, GovernanceEvent } from '../../governance/governance-types.ts'
import { makeUserId, now } from '../users/user-changes.ts'
import { activeAdministrators, lockRoles } from '../users/users-store.ts'
import type { PersonDetails } from './directory-names.ts'
import {
  activeOwners,
  deactivatePeople,
  insertPeople,
  keysDeactivatedByHand,
  type PersonRow,
  peopleByIds,
  reactivatePeople,
  releaseAddresses,
  setDisplayNames,
  updatePeople,
} from './people-store.ts'

interface PeopleDeps {
  revoker: TokenRevoker
  events: EventBus
  /** Returns the stored replacement for the address of a removed person. */
  formerAddressKey: (tenantId: string, emailKey: string) => string
}

/** Applies changes of the directory to people of the Hub. Collects events, so that the caller writes them together. */
export class People {
  readonly #deps: PeopleDeps

  constructor(deps: PeopleDeps) {
    this.#deps = deps
  }

  /**
   * Adopts the active person with the address who is in no directory, or creates a member. Returns the ids in the order
   * of the people. An address in use stays with its owner. A new person whose address belonged to somebody whom a
   * person deactivated is created deactivated.
   */
  async add(
    tx: TenantTx,
    people: readonly (PersonDetails & { active: boolean; externalId: string | null })[],
    actor: Actor,
    events: GovernanceEvent[],
  ): Promise<string[]> {
    const owners = await activeOwners(tx, keysOf(people))
    const barred = await this.#barredKeys(
      tx,
      keysOf(people).filter((key) => !owners.has(key)),
    )
    const claimed = new Set<string>()
    const ids = new Array<string>(people.length)
    const made: (PersonDetails & { userId: string; active: boolean; byHand: boolean })[] = []
    const named: { userId: string; displayName: string }[] = []
    // Active people come first: of two entries with one address, an inactive one is a former account.
    const order = people.map((_, index) => index).sort((a, b) => Number(people[b]!.active) - Number(people[a]!.active))
    for (const index of order) {
      const person = people[index]!
      const owner = owners.get(person.emailKey)
      const isFree = person.emailKey === '' || !claimed.has(person.emailKey)
      claimed.add(person.emailKey)
      if (owner && !owner.in_directory && isFree) {
        ids[index] = owner.user_id
        const { displayName } = person
        const isNamed = displayName !== null && displayName !== owner.display_name
        if (isNamed) named.push({ userId: owner.user_id, displayName })
        const changed = [...(isNamed ? ['display_name'] : []), ...(person.externalId === null ? [] : ['external_id'])]
        events.push(eventOf(owner.user_id, { change: 'directory_user_linked', role: owner.role, changed }, actor))
      } else {
        ids[index] = makeUserId()
        const byHand = barred.has(person.emailKey)
        const active = person.active && !byHand
        const address = (owner || !isFree) && active ? noAddress : {}
        made.push({ ...person, ...address, userId: ids[index]!, active, byHand })
      }
    }
    const inserted = made.length === 0 ? new Set<string>() : await insertPeople(tx, made, now())
    if (named.length > 0) await setDisplayNames(tx, named, now())
    // A first sign-in with the address has committed while this ran.
    const late = made.filter(({ userId }) => !inserted.has(userId)).map((person) => ({ ...person, ...noAddress }))
    if (late.length > 0) await insertPeople(tx, late, now())
    for (const { userId, active, byHand } of made) {
      const after = { role: 'member', active }
      const details = { change: 'user_created', before: null, after, reason: 'directory' }
      events.push(eventOf(userId, { ...details, ...(byHand && { kept_deactivated: true }) }, actor))
    }
    return ids
  }

  /**
   * Changes addresses and names. An address of another active person stays with that person. The address of a person
   * with a role above member does not change, since a link to it grants all rights of the role.
   */
  async change(
    tx: TenantTx,
    changes: readonly { userId: string; before: PersonDetails; after: PersonDetails }[],
    actor: Actor,
    events: GovernanceEvent[],
  ): Promise<void> {
    if (changes.length === 0) return
    const userIds = changes.map(({ userId }) => userId)
    const rows = new Map((await peopleByIds(tx, userIds)).map((row) => [row.user_id, row]))
    const readdressed = changes.filter(
      ({ before, after }) => before.emailKey !== after.emailKey || before.email !== after.email,
    )
    const isMember = ({ userId }: { userId: string }) => rows.get(userId)!.role === 'member'
    const moving = readdressed.filter(isMember)
    const keeping = readdressed.filter((change) => !isMember(change))
    await releaseAddresses(
      tx,
      moving.map(({ userId }) => userId),
    )
    const taken = new Set((await activeOwners(tx, keysOf(moving.map(({ after }) => after)))).keys())
    const moved = new Set(moving)
    const updates = changes.map((change) => {
      const row = rows.get(change.userId)!
      const isActive = row.deactivated_at === null
      const keeps = { email: row.email, emailKey: row.email_key }
      const { email, emailKey } = moved.has(change) ? change.after : keeps
      const isTaken = moved.has(change) && isActive && taken.has(emailKey)
      if (moved.has(change) && isActive && emailKey !== '') taken.add(emailKey)
      const hasNewName = change.before.displayName !== change.after.displayName
      return {
        userId: change.userId,
        ...(isTaken ? noAddress : { email, emailKey }),
        displayName: hasNewName ? change.after.displayName : row.display_name,
      }
    })
    await updatePeople(tx, updates, now())
    for (const { userId } of moving) {
      events.push(eventOf(userId, { change: 'user_email', reason: 'directory' }, actor))
    }
    for (const { userId } of keeping) {
      const { role } = rows.get(userId)!
      events.push(eventOf(userId, { change: 'user_email_kept', role, reason: 'directory' }, actor))
    }
  }

  /**
   * Deactivates people and ends their sessions and tokens. Returns those left active: the oldest of the last
   * administrators.
   */
  async deactivate(
    tx: TenantTx,
    tenant: Tenant,
    userIds: readonly string[],
    actor: Actor,
    events: GovernanceEvent[],
  ): Promise<string[]> {
    if (userIds.length === 0) return []
    await lockRoles(tx)
    const administrators = await activeAdministrators(tx)
    const wanted = new Set(userIds)
    const kept =
      administrators.length > 0 && administrators.every((id) => wanted.has(id)) ? administrators[0] : undefined
    if (kept !== undefined) wanted.delete(kept)
    const rows = await deactivatePeople(tx, [...wanted], now())
    for (const [epoch, ids] of Map.groupBy(rows, (row) => row.epoch)) {
      const principals = ids.map((row) => `user:${row.user_id}` as const)
      await this.#deps.revoker.revokeAll(tx, principals, epoch)
    }
    for (const row of rows) {
      await this.#deps.events.publishInTransaction(tx, 'userDeactivated', { tenant, userId: row.user_id, actor })
      events.push(changeOf('user_deactivated', row, actor))
    }
    return kept === undefined ? [] : [kept]
  }

  /**
   * Reactivates people except those whom a person deactivated. An address that another active person has by now is
   * removed.
   */
  async reactivate(tx: TenantTx, userIds: readonly string[], actor: Actor, events: GovernanceEvent[]): Promise<void> {
    if (userIds.length === 0) return
    await lockRoles(tx)
    const former = (await peopleByIds(tx, userIds)).filter((row) => row.deactivated_at !== null)
    const taken = new Set((await activeOwners(tx, former.map((row) => row.email_key).filter(Boolean))).keys())
    const losing = former.filter((row) => {
      const isTaken = row.email_key !== '' && taken.has(row.email_key)
      taken.add(row.email_key)
      return isTaken
    })
    if (losing.length > 0) {
      await releaseAddresses(
        tx,
        losing.map((row) => row.user_id),
      )
    }
    const losers = new Set(losing.map((row) => row.user_id))
    for (const row of await reactivatePeople(tx, userIds, now())) {
      const changed = losers.has(row.user_id) ? ['email'] : []
      events.push(changeOf('user_reactivated', row, actor, changed))
    }
  }

  /** Returns the addresses of people whom a person deactivated, unless somebody has readmitted them since. */
  async #barredKeys(tx: TenantTx, keys: readonly string[]): Promise<Set<string>> {
    const formerKeys = new Map(keys.map((key) => [key, this.#deps.formerAddressKey(tx.tenantId, key)]))
    const byHand = await keysDeactivatedByHand(tx, [...formerKeys].flat())
    return new Set(keys.filter((key) => byHand.has(key) || byHand.has(formerKeys.get(key)!)))
  }
}

const noAddress = { email: '', emailKey: '' }

function keysOf(people: readonly PersonDetails[]): string[] {
  return [...new Set(people.map((person) => person.emailKey).filter((key) => key !== ''))]
}

/** Creates an event without address and name: events are immutable, so they could not be erased. */
export function eventOf(userId: string, details: Record<string, JsonValue>, actor: Actor): GovernanceEvent {
  return { kind: 'tenant.config_changed', subject: `user:${userId}`, details, actor }
}

/** @param changed names of further changed members, as in API responses */
function changeOf(
  change: string,
  { user_id, role, deactivated_at }: PersonRow,
  actor: Actor,
  changed: readonly string[] = [],
): GovernanceEvent {
  const active = deactivated_at === null
  const [before, after] = [
    { role, active: !active },
    { role, active },
  ]
  const details = { change, before, after, reason: 'directory' }
  return eventOf(user_id, { ...details, ...(changed.length > 0 && { changed }) }, actor)
}
