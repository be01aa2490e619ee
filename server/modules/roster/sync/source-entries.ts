import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite, GroupMapping } from '../directory/directory-types.ts'
import type { ReadEntry } from './sync-entries-store.ts'
import type { ResourceReader } from './sync-types.ts'

const idLengthMax = 256
const membersAtOnce = 500

export interface UserEntry extends ReadEntry {
  write: DirectoryUserWrite
}

export interface GroupEntry extends ReadEntry {
  write: DirectoryGroupWrite
  /** Member ids in the company's directory; undefined if the entry does not list members. */
  memberIds: readonly string[] | undefined
}

/**
 * Reads a person from a directory entry. An entry with malformed attributes is reduced to name, external id and
 * `active`, so that nobody counts as absent because of a telephone number. Returns undefined for an entry that is no
 * person.
 */
export function readUserEntry(reader: ResourceReader, given: unknown): UserEntry | undefined {
  if (!isJsonObject(given)) return undefined
  const { userName, active } = given
  const externalId = readId(given.externalId)
  const sourceId = readId(given.id) ?? externalId ?? readId(userName)
  if (typeof userName !== 'string' || sourceId === undefined) return undefined
  const write = read(reader.user, given) ?? read(reader.user, { userName, externalId, active })
  return write && { sourceId, externalId: write.externalId ?? sourceId, write }
}

/**
 * Reads a group as {@link readUserEntry} reads a person. If a mapping names the group's id, that becomes its external
 * id.
 */
export async function readGroupEntry(
  reader: ResourceReader,
  given: unknown,
  mapping: readonly GroupMapping[],
  yieldIfLong: () => Promise<void>,
): Promise<GroupEntry | undefined> {
  if (!isJsonObject(given)) return undefined
  const { members, ...rest } = given
  const { displayName } = rest
  const externalId = readId(rest.externalId)
  const sourceId = readId(given.id) ?? externalId ?? readId(displayName)
  if (typeof displayName !== 'string' || sourceId === undefined) return undefined
  const write = read(reader.group, rest) ?? read(reader.group, { displayName, externalId })
  if (!write) return undefined
  const isNamed = mapping.some(({ group }) => group === sourceId)
  return {
    sourceId,
    externalId: isNamed ? sourceId : (write.externalId ?? sourceId),
    write,
    memberIds: await readMembers(members, yieldIfLong),
  }
}

/** Returns the reason why an entry is unreadable, without its content. */
export function faultOf(given: unknown, nameMember: 'userName' | 'displayName'): string {
  if (!isJsonObject(given)) return 'is no JSON object'
  const { id, externalId, [nameMember]: name } = given
  if (typeof name !== 'string') return `has no ${nameMember}`
  if ((readId(id) ?? readId(externalId) ?? readId(name)) === undefined) {
    return `has no id of 1 to ${idLengthMax} characters without control characters`
  }
  return `has a ${nameMember} or another attribute that the Hub cannot keep`
}

export const rivalFault = 'has the externalId of another entry, and its own id is the externalId of a third'

/** Returns the ids of members; skips nested groups and invalid ids. */
export async function readMembers(members: unknown, yieldIfLong: () => Promise<void>): Promise<string[] | undefined> {
  if (!Array.isArray(members)) return undefined
  const ids = new Set<string>()
  for (const [index, member] of members.entries()) {
    const { value, type } = isJsonObject(member) ? member : { value: member, type: undefined }
    const id = typeof type === 'string' && type.toLowerCase() === 'group' ? undefined : readId(value)
    if (id !== undefined) ids.add(id)
    if (index % membersAtOnce === membersAtOnce - 1) await yieldIfLong()
  }
  return [...ids]
}

function read<T>(by: (resource: unknown) => T, resource: object): T | undefined {
  const given = Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined))
  try {
    return by(given as JsonObject)
  } catch {
    return undefined
  }
}

function readId(value: unknown): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof id === 'string' && id !== '' && id.length <= idLengthMax && !/\p{Cc}/u.test(id) ? id : undefined
}
