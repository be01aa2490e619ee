import type { Static } from 'typebox'
import { DomainError, type PointedError } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { compileSchema } from '../../http/request-validation.ts'
import type {
  Directory,
  DirectoryCause,
  DirectoryUser,
  DirectoryUserWrite,
} from '../roster/directory/directory-types.ts'
import type { ResourceReader } from '../roster/sync/sync-types.ts'
import type { InboundMessage } from './inbound-message.ts'
import { PersonData, type PersonKind } from './inbound-schemas.ts'

const shapeErrors = compileSchema(PersonData)

/** The name is absent only with `user.deactivated` and an external id. */
type Person = Partial<Static<typeof PersonData>>

export type InboundPeople = ReturnType<typeof createInboundPeople>

/** Creates the part that applies an identity provider's messages about people to the directory, as SCIM does. */
export function createInboundPeople(deps: { directory: Directory; reader: ResourceReader }) {
  const { directory, reader } = deps

  async function find(tx: TenantTx, path: string, value: string): Promise<DirectoryUser | undefined> {
    const filter = { kind: 'compare', path: [path], operator: 'eq', value } as const
    return (await directory.users(tx, { filter, offset: 0, count: 1 })).items[0]
  }

  async function known(tx: TenantTx, person: Person): Promise<DirectoryUser | undefined> {
    const { external_id: externalId, user_name: userName } = person
    const byId = externalId === undefined ? undefined : await find(tx, 'externalid', externalId)
    if (byId) return byId
    const byName = userName === undefined ? undefined : await find(tx, 'username', userName)
    const hasOtherId = externalId !== undefined && byName !== undefined && byName.externalId !== null
    // A person who left does not come back under another external id; a pull has the same rule.
    return hasOtherId && !(byName.active && byName.wantedActive) ? undefined : byName
  }

  return {
    /** Returns problems with pointers relative to `data`. */
    problemsIn(kind: PersonKind, data: JsonObject): PointedError[] {
      const all = shapeErrors(data)
      const isFaulty = (pointer: string) => all.some((error) => error.pointer === pointer)
      // A person to deactivate is known already, so either id is sufficient.
      const hasId = kind === 'user.deactivated' && data.external_id !== undefined && !isFaulty('/external_id')
      const errors = all.filter(({ pointer }) => !(hasId && data.user_name === undefined && pointer === '/user_name'))
      if (typeof data.email === 'string' && !isFaulty('/email') && !isEmail(data.email)) {
        errors.push({ pointer: '/email', detail: 'must be an e-mail address' })
      }
      if (kind === 'user.deactivated' && data.active === true) {
        errors.push({ pointer: '/active', detail: 'must be false or absent for this kind' })
      }
      return errors
    },

    /**
     * Applies a message to the person found by external id, else by user name. Creates an unknown person, except for
     * `user.deactivated`, which then does nothing. Members absent from `data` stay. Throws `concurrent-modification`
     * for the last administrator, and for a user name of somebody else.
     */
    async apply(
      tx: TenantTx,
      tenant: Tenant,
      { kind, data }: InboundMessage<PersonKind>,
      cause: DirectoryCause,
    ): Promise<void> {
      const person = data as unknown as Person
      await directory.lock(tx)
      const before = await known(tx, person)
      if (kind === 'user.deactivated') {
        if (!before) return
        const write = { ...writeOf(before), active: false }
        await directory.replaceUser(tx, tenant, before.userId, write, cause).catch(failWithOwnNames)
        return
      }
      const active = person.active ?? (kind === 'user.provisioned' ? true : (before?.wantedActive ?? true))
      const write = reader.user({
        ...attributesOf(person, before?.attributes ?? {}),
        userName: person.user_name!,
        externalId: person.external_id ?? before?.externalId ?? null,
        active,
      })
      const change = before
        ? directory.replaceUser(tx, tenant, before.userId, write, cause)
        : directory.createUser(tx, tenant, write, cause)
      await change.catch(failWithOwnNames)
    },
  }
}

function writeOf({ userName, externalId, attributes, wantedActive }: DirectoryUser): DirectoryUserWrite {
  return { userName, externalId, attributes, active: wantedActive }
}

/** Returns the attributes of a SCIM user (RFC 7643, section 4.1), updated from the message. */
function attributesOf(person: Person, before: JsonObject): JsonObject {
  const { email, display_name: displayName, given_name: givenName, family_name: familyName } = person
  const name: Record<string, JsonValue> = {
    ...(isJsonObject(before.name ?? null) && (before.name as JsonObject)),
    ...(givenName !== undefined && { givenName }),
    ...(familyName !== undefined && { familyName }),
  }
  const hasNewName = givenName !== undefined || familyName !== undefined
  // Composed of the other parts, so it would contradict them.
  if (hasNewName) delete name.formatted
  return {
    ...before,
    ...(displayName !== undefined && { displayName }),
    ...(hasNewName && { name }),
    ...(email !== undefined && { emails: withAddress(before.emails, email) }),
  }
}

/** Replaces the address that the Hub uses: the primary one, else the first. */
function withAddress(emails: JsonValue | undefined, value: string): JsonValue {
  const list = (Array.isArray(emails) ? (emails as readonly JsonValue[]) : []).filter(isJsonObject)
  const used = list.find(({ primary }) => primary === true) ?? list[0]
  if (used === undefined) return [{ value, type: 'work', primary: true }]
  if (used.value === value) return list
  const { display: _, ...rest } = used
  return list.map((each) => (each === used ? { ...rest, value } : each))
}

const ownNames: Readonly<Record<string, string>> = {
  '/userName': '/data/user_name',
  '/externalId': '/data/external_id',
  '/active': '/data/active',
}

/** Renames pointers of SCIM to members of the message. */
function failWithOwnNames(error: unknown): never {
  if (!(error instanceof DomainError) || error.errors === undefined) throw error
  const errors = error.errors.map(({ pointer, detail }) => ({ pointer: ownNames[pointer] ?? '/data', detail }))
  throw new DomainError(error.slug, error.message, { errors, cause: error })
}
