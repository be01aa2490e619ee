import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite, GroupMapping } from '../directory/directory-types.ts'
import type { ReadEntry } from './seen-entries.ts'
import type { ResourceReader } from './sync-types.ts'

const idLengthMax = 256
const membersAtOnce = 500

export interface UserEntry extends ReadEntry {
  write: DirectoryUserWrite
}

export interface GroupEntry extends ReadEntry {
  write: DirectoryGroupWrite
  /** Ids of the company's directory; undefined where the entry does not say. */
  memberIds: readonly string[] | undefined
}

/**
 * A person, as the directory gives it. One whose attributes are odd is read by name, external id and `active` alone,
 * so that nobody is taken for absent because of a telephone number. Undefined for what is no person at all.
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

/** As {@link readUserEntry}. A mapping that names the id of a group makes that what the Hub knows it by. */
export async function readGroupEntry(
  reader: ResourceReader,
  given: unknown,
  mapping: readonly GroupMapping[],
  breathe: () => Promise<void>,
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
    memberIds: await readMembers(members, breathe),
  }
}

/** Why an entry could not be read, without anything that is in it. */
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

/** Groups inside groups are left out; ids that are none, too. */
export async function readMembers(members: unknown, breathe: () => Promise<void>): Promise<string[] | undefined> {
  if (!Array.isArray(members)) return undefined
  const ids = new Set<string>()
  for (const [index, member] of members.entries()) {
    const { value, type } = isJsonObject(member) ? member : { value: member, type: undefined }
    const id = typeof type === 'string' && type.toLowerCase() === 'group' ? undefined : readId(value)
    if (id !== undefined) ids.add(id)
    if (index % membersAtOnce === membersAtOnce - 1) await breathe()
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
