import type { TenantMode } from '../../../../contract/literals.ts'
import { governancePrefix, type UserEventKind } from '../../../../contract/webhook-events.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TransactionEvents } from '../../../event-bus.ts'
import type { WrittenEvent } from '../../governance/governance-types.ts'
import type { UserProfile, UserProfiles } from '../../roster/roster-types.ts'
import type { OutgoingMessage, WebhookOutbox } from '../webhooks-types.ts'

/**
 * Creates the subscriber that queues messages about governance events and the people they concern. It costs one
 * statement if no endpoint wants any.
 */
export function createGovernanceOutbox(deps: {
  outbox: Pick<WebhookOutbox, 'wanted' | 'add'>
  profiles: UserProfiles
}) {
  const { outbox, profiles } = deps
  return async (tx: TenantTx, { tenant, events }: TransactionEvents['governanceWritten']): Promise<void> => {
    if (events.length === 0) return
    const wants = await outbox.wanted(tx)
    const wanted = events.filter(({ kind }) => wants(governancePrefix + kind))
    const messages = wanted.map((event) => messageOf(event, tenant.mode))
    await outbox.add(tx, [...messages, ...(await userMessages(tx, profiles, wants, events))])
  }
}

function messageOf(event: WrittenEvent, mode: TenantMode): OutgoingMessage {
  const { recordId, createdAt, createdBy, provenanceHash, kind } = event
  return {
    kind: governancePrefix + kind,
    occurredAt: createdAt,
    data: {
      record_id: recordId,
      event_kind: kind,
      ...wordsOf(event, mode),
      created_at: createdAt,
      created_by: createdBy,
      provenance_hash: provenanceHash,
    },
    recordId,
  }
}

/**
 * Returns subject and details. In Mode B the text of a client is under the customer's key, so no copy is stored beside
 * it, not even briefly.
 */
function wordsOf({ kind, subject, details }: WrittenEvent, mode: TenantMode): JsonObject {
  if (mode === 'B' && kind.startsWith('custom.')) return {}
  return { ...(subject !== undefined && { subject }), ...(details !== undefined && { details }) }
}

/**
 * Maps `details.change` of `tenant.config_changed` about a user to the members it changes in messages, besides the
 * names in `details.changed`. Other changes affect none.
 */
const changedBy: Readonly<Record<string, readonly string[]>> = {
  user_role: ['role'],
  user_reactivated: ['active'],
  user_email: ['email'],
  user_display_name: ['display_name'],
  directory_user: [],
  directory_user_linked: ['source', 'user_name'],
}

/** Attributes of a directory, by their names in `details.attributes`, that messages contain unchanged. */
const sentAttributes: Readonly<Record<string, string>> = { userName: 'user_name', externalId: 'external_id' }

/** Combines events about one person that were written together. */
class PersonChanges {
  readonly userId: string
  /** The last of the events. */
  event: WrittenEvent
  isProvisioned = false
  isDeactivated = false
  /**
   * Whether the directory removed the person. The deactivation is then the last message, because the remaining data no
   * longer identifies the person.
   */
  isRemoved = false
  readonly changed = new Set<string>()
  readonly archetypes: { before: JsonValue; after: JsonValue }[] = []

  constructor(userId: string, event: WrittenEvent) {
    this.userId = userId
    this.event = event
  }
}

const subjectPrefix = 'user:'
const assignedKind = 'rbac.archetype_assigned'
const changedKind = 'tenant.config_changed'
const removedChange = 'directory_user_removed'

/**
 * Returns the wanted `user.*` messages that follow from governance events. For events that were written together, each
 * person has at most one message of a kind, except for archetypes. Data is read in the transaction: events are written
 * after their change.
 */
export async function userMessages(
  tx: TenantTx,
  profiles: UserProfiles,
  wants: (kind: UserEventKind) => boolean,
  events: readonly WrittenEvent[],
): Promise<OutgoingMessage[]> {
  const changes = [...changesByPerson(events)].filter((one) => kindsOf(one).some(wants))
  if (changes.length === 0) return []
  const found = await profiles.ofUsers(
    tx,
    changes.map(({ userId }) => userId),
  )
  return changes.flatMap((one) => {
    const profile = found.get(one.userId)
    return profile === undefined ? [] : messagesOf(one, profile).filter(({ kind }) => wants(kind as UserEventKind))
  })
}

function changesByPerson(events: readonly WrittenEvent[]): Iterable<PersonChanges> {
  const changes = new Map<string, PersonChanges>()
  for (const event of events) {
    const { kind, subject, details = {} } = event
    if (subject === undefined || !subject.startsWith(subjectPrefix)) continue
    if (kind !== changedKind && kind !== assignedKind) continue
    const userId = subject.slice(subjectPrefix.length)
    const one = changes.getOrInsertComputed(userId, () => new PersonChanges(userId, event))
    one.event = event
    if (kind === assignedKind) one.archetypes.push({ before: details.before ?? [], after: details.after ?? [] })
    else noteChange(one, details)
  }
  return changes.values()
}

function noteChange(changes: PersonChanges, details: JsonObject): void {
  const change = String(details.change)
  if (change === 'user_created') changes.isProvisioned = true
  if (change === 'user_deactivated') changes.isDeactivated = true
  if (change === removedChange) changes.isRemoved = true
  if (!Object.hasOwn(changedBy, change)) return
  for (const name of changedBy[change]!) changes.changed.add(name)
  for (const name of textsOf(details.changed)) changes.changed.add(name)
  for (const name of textsOf(details.attributes)) {
    if (Object.hasOwn(sentAttributes, name)) changes.changed.add(sentAttributes[name]!)
  }
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function kindsOf({ isProvisioned, isDeactivated, isRemoved, changed, archetypes }: PersonChanges): UserEventKind[] {
  if (isRemoved) return []
  const isUpdated = changed.size > 0 && !isProvisioned
  return [
    ...(isProvisioned ? ['user.provisioned' as const] : []),
    ...(isUpdated ? ['user.updated' as const] : []),
    ...archetypes.map(() => 'user.archetype_changed' as const),
    ...(isDeactivated ? ['user.deactivated' as const] : []),
  ]
}

function messagesOf(changes: PersonChanges, profile: UserProfile): OutgoingMessage[] {
  const { event, userId, archetypes, changed } = changes
  const archetypeChanges = archetypes.values()
  return kindsOf(changes).map((kind) => ({
    kind,
    occurredAt: event.createdAt,
    data: {
      ...profile,
      ...(kind === 'user.updated' && { changed: [...changed].sort() }),
      ...(kind === 'user.archetype_changed' && archetypeChanges.next().value),
    },
    recordId: event.recordId,
    userId,
  }))
}
