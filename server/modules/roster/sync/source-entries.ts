import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite, GroupMapping } from '../directory/directory-types.ts'
import type { ReadEntry } from './met-entries.ts'
import type { ResourceReader } from './sync-types.ts'

const idLengthMax = 256

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
  const { userName, externalId, active } = given
  const write =
    read(reader.user, given) ??
    read(reader.user, { userName, externalId, active }) ??
    read(reader.user, { userName, active })
  const sourceId = readId(given.id) ?? readId(externalId) ?? readId(userName)
  if (!write || sourceId === undefined) return undefined
  return { sourceId, externalId: write.externalId ?? sourceId, write }
}

/** As {@link readUserEntry}. A mapping that names the id of a group makes that what the Hub knows it by. */
export function readGroupEntry(
  reader: ResourceReader,
  given: unknown,
  mapping: readonly GroupMapping[],
): GroupEntry | undefined {
  if (!isJsonObject(given)) return undefined
  const { members, ...rest } = given
  const { displayName, externalId } = rest
  const write =
    read(reader.group, rest) ?? read(reader.group, { displayName, externalId }) ?? read(reader.group, { displayName })
  const sourceId = readId(given.id) ?? readId(externalId) ?? readId(displayName)
  if (!write || sourceId === undefined) return undefined
  const isNamed = mapping.some(({ group }) => group === sourceId)
  return {
    sourceId,
    externalId: isNamed ? sourceId : (write.externalId ?? sourceId),
    write,
    memberIds: readMembers(members),
  }
}

/** Groups inside groups are left out; ids that are none, too. */
export function readMembers(members: unknown): string[] | undefined {
  if (!Array.isArray(members)) return undefined
  const ids = members.map((member: unknown) => {
    const { value, type } = isJsonObject(member) ? member : { value: member, type: undefined }
    return typeof type === 'string' && type.toLowerCase() === 'group' ? undefined : readId(value)
  })
  return [...new Set(ids.filter((id) => id !== undefined))]
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
