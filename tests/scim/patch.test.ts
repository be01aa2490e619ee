import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/json.ts'
import { membersChanged } from '../../server/modules/scim/member-change.ts'
import { applyPatch } from '../../server/modules/scim/patch.ts'
import { readPatch } from '../../server/modules/scim/patch-operations.ts'
import { groupResource, userResource } from '../../server/modules/scim/scim-schemas.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const work = { value: 'w@x.example', type: 'work', primary: true }
const home = { value: 'h@x.example', type: 'home' }
const person = { userName: 'kim', name: { givenName: 'Kim', familyName: 'Lee' }, emails: [work, home], active: true }

const patched = (Operations: JsonValue, from: Record<string, JsonValue> = person) =>
  applyPatch(from, readPatch(userResource, 'usr_1', { Operations }))
const refused = (scimType: string) => expect.objectContaining({ extensions: { scimType } })

describe('PATCH of RFC 7644, section 3.5.2', () => {
  test('add sets what has one value, merges parts, and appends what is not there', () => {
    expect(patched([{ op: 'add', path: 'title', value: 'Lead' }])).toEqual({ ...person, title: 'Lead' })
    expect(patched([{ op: 'add', path: 'name', value: { middleName: 'J' } }]).name).toEqual({
      ...person.name,
      middleName: 'J',
    })
    expect(patched([{ op: 'add', path: 'emails', value: [home, { value: 'o@x.example' }] }]).emails).toEqual([
      work,
      home,
      { value: 'o@x.example' },
    ])
    expect(patched([{ op: 'add', value: { nickName: 'K', emails: [{ value: 'n@x.example' }] } }])).toMatchObject({
      nickName: 'K',
      emails: [work, home, { value: 'n@x.example' }],
    })
  })

  test('replace sets what is there and what is not, keeps the parts it does not name, and replaces lists', () => {
    expect(patched([{ op: 'replace', path: 'name', value: { givenName: 'Kay' } }]).name).toEqual({
      givenName: 'Kay',
      familyName: 'Lee',
    })
    expect(patched([{ op: 'replace', path: 'name.givenName', value: 'Kay' }]).name).toEqual({
      givenName: 'Kay',
      familyName: 'Lee',
    })
    expect(patched([{ op: 'replace', path: 'emails', value: [home] }]).emails).toEqual([home])
    expect(patched([{ op: 'replace', path: 'nickName', value: 'K' }]).nickName).toBe('K')
    expect(
      patched([{ op: 'replace', path: 'emails[type eq "home"]', value: { value: 'new@x.example', type: 'home' } }])
        .emails,
    ).toEqual([work, { value: 'new@x.example', type: 'home' }])
    expect(patched([{ op: 'replace', path: 'emails[type eq "home"].value', value: 'new@x.example' }]).emails).toEqual([
      work,
      { ...home, value: 'new@x.example' },
    ])
    expect(patched([{ op: 'replace', path: 'emails.display', value: 'D' }]).emails).toEqual([
      { ...work, display: 'D' },
      { ...home, display: 'D' },
    ])
  })

  test('remove takes attributes, parts, chosen values and their parts, and listed values', () => {
    expect(patched([{ op: 'remove', path: 'emails' }])).not.toHaveProperty('emails')
    expect(patched([{ op: 'remove', path: 'name.givenName' }]).name).toEqual({ familyName: 'Lee' })
    expect(patched([{ op: 'remove', path: 'emails[type eq "work"]' }]).emails).toEqual([home])
    expect(patched([{ op: 'remove', path: 'emails[type eq "work"].primary' }]).emails).toEqual([
      { value: 'w@x.example', type: 'work' },
      home,
    ])
    expect(patched([{ op: 'remove', path: 'emails', value: [{ value: 'h@x.example' }] }]).emails).toEqual([work])
    expect(patched([{ op: 'remove', path: 'emails[value co "@"]' }])).not.toHaveProperty('emails')
    expect(patched([{ op: 'remove', path: 'title' }])).toEqual(person)
  })

  test('one value is primary: a new one takes the place of the one before', () => {
    const after = patched([{ op: 'add', path: 'emails', value: [{ value: 'p@x.example', primary: true }] }]).emails
    expect(after).toEqual([{ ...work, primary: false }, home, { value: 'p@x.example', primary: true }])
    expect(patched([{ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' }]).emails).toEqual([
      { ...work, primary: false },
      { ...home, primary: true },
    ])
    expect(() => patched([{ op: 'replace', path: 'emails', value: [work, { ...home, primary: true }] }])).toThrow(
      refused('invalidValue'),
    )
    expect(() => patched([{ op: 'replace', path: 'emails.primary', value: true }])).toThrow(refused('invalidValue'))
  })

  test('operations follow each other', () => {
    expect(
      patched([
        { op: 'remove', path: 'emails' },
        { op: 'add', path: 'emails[type eq "other"].value', value: 'o@x.example' },
        { op: 'replace', path: 'emails[type eq "other"].primary', value: true },
      ]).emails,
    ).toEqual([{ type: 'other', value: 'o@x.example', primary: true }])
    expect(patched([{ op: 'add', path: 'emails[type eq "fax"].value', value: 'f' }], { userName: 'kim' })).toEqual({
      userName: 'kim',
      emails: [{ type: 'fax', value: 'f' }],
    })
  })

  test('extensions: by URN, as a whole, and a manager as text', () => {
    const after = patched([
      { op: 'Add', path: `${enterprise}:department`, value: 'Sales' },
      { op: 'Replace', path: `${enterprise}:manager`, value: 'usr_9' },
      { op: 'Add', path: enterprise, value: { costCenter: '7' } },
      { op: 'Add', value: { [`${enterprise}:division`]: 'North', [enterprise]: { organization: 'Acme' } } },
    ])
    expect(after[enterprise]).toEqual({
      department: 'Sales',
      manager: { value: 'usr_9' },
      costCenter: '7',
      division: 'North',
      organization: 'Acme',
    })
    expect(patched([{ op: 'remove', path: enterprise }], after)).toEqual(person)
  })

  test.each<[string, JsonValue]>([
    ['noTarget', [{ op: 'remove' }]],
    ['noTarget', [{ op: 'replace', path: 'emails[type eq "fax"].value', value: 'a' }]],
    ['noTarget', [{ op: 'remove', path: 'emails[type eq "fax"]' }]],
    ['noTarget', [{ op: 'add', path: 'emails[type ne "work" and type ne "home"].value', value: 'a' }]],
    ['noTarget', [{ op: 'replace', path: 'favouriteColour', value: 'a' }]],
    ['mutability', [{ op: 'replace', path: 'id', value: 'usr_2' }]],
    ['mutability', [{ op: 'replace', value: { id: 'usr_2' } }]],
    ['mutability', [{ op: 'replace', path: 'meta.created', value: 'now' }]],
    ['mutability', [{ op: 'add', path: 'groups', value: [{ value: 'grp_1' }] }]],
    ['mutability', [{ op: 'remove', path: 'userName' }]],
    ['invalidValue', [{ op: 'replace', path: 'active', value: 'perhaps' }]],
    ['invalidValue', [{ op: 'replace', path: 'userName', value: 7 }]],
    ['invalidValue', [{ op: 'replace', path: 'name', value: 'Kim' }]],
    ['invalidValue', [{ op: 'replace', path: 'title', value: ['a', 'b'] }]],
    ['invalidSyntax', [{ op: 'move', path: 'title', value: 'a' }]],
    ['invalidSyntax', [{ path: 'title', value: 'a' }]],
    ['invalidSyntax', [{ op: 'replace', path: 'title' }]],
    ['invalidSyntax', [{ op: 'replace', value: 'a' }]],
    ['invalidSyntax', ['replace']],
    ['invalidSyntax', []],
    ['invalidSyntax', Array.from({ length: 1001 }, () => ({ op: 'add', path: 'title', value: 'a' }))],
    ['invalidPath', [{ op: 'replace', path: 7, value: 'a' }]],
    ['invalidPath', [{ op: 'replace', path: 'emails[type eq "work"', value: 'a' }]],
    ['invalidPath', [{ op: 'replace', value: { constructor: { prototype: 1 } } }]],
  ])('%s: %j', (scimType, operations) => {
    expect(() => patched(operations)).toThrow(refused(scimType))
  })

  test('what nobody may set, or no schema has, is left out of an object of attributes', () => {
    const value = { id: 'usr_1', meta: { resourceType: 'User' }, groups: [], schemas: [], colour: 'red', title: 'Lead' }
    expect(patched([{ op: 'replace', value }])).toEqual({ ...person, title: 'Lead' })
    expect(patched([{ op: 'replace', path: 'urn:acme:1.0:User:colour', value: 'red' }])).toEqual(person)
  })

  test('leaves what it was given as it was', () => {
    const before = structuredClone(person)
    patched([
      { op: 'replace', path: 'emails[type eq "home"].value', value: 'x' },
      { op: 'remove', path: 'name.givenName' },
    ])
    expect(person).toEqual(before)
  })
})

describe('members of groups', () => {
  const changed = (Operations: JsonValue, members: { userId: string; display: string }[] = []) =>
    membersChanged(readPatch(groupResource, 'grp_1', { Operations }), members)
  const [a, b, c] = ['usr_a', 'usr_b', 'usr_c']

  test('are added and removed without being read, replaced, and taken all', () => {
    expect(changed([{ op: 'Add', path: 'members', value: [{ $ref: null, value: a }, { value: b }] }])).toEqual({
      add: [a, b],
      remove: [],
    })
    expect(changed([{ op: 'Remove', path: 'members', value: [{ value: a }] }])).toEqual({ add: [], remove: [a] })
    expect(changed([{ op: 'remove', path: `members[value eq "${a}"]` }])).toEqual({ add: [], remove: [a] })
    expect(changed([{ op: 'remove', path: `members[value eq "${a}" or value eq "${b}"]` }])).toEqual({
      add: [],
      remove: [a, b],
    })
    expect(changed([{ op: 'remove', path: 'members' }])).toEqual({ all: [] })
    expect(changed([{ op: 'replace', path: 'members', value: [{ value: c }] }])).toEqual({ all: [c] })
    expect(changed([{ op: 'replace', value: { members: [{ value: c }], displayName: 'X' } }])).toEqual({ all: [c] })
    expect(changed([{ op: 'replace', path: 'displayName', value: 'X' }])).toBeUndefined()
  })

  test('the last word counts', () => {
    const add = { op: 'add', path: 'members', value: [{ value: a }] }
    const remove = { op: 'remove', path: `members[value eq "${a}"]` }
    expect(changed([add, remove])).toEqual({ add: [], remove: [a] })
    expect(changed([remove, add])).toEqual({ add: [a], remove: [] })
    expect(changed([{ op: 'replace', path: 'members', value: [{ value: b }] }, add, remove])).toEqual({ all: [b] })
  })

  test('other filters look at them', () => {
    const members = [
      { userId: 'usr_a', display: 'Ann' },
      { userId: 'usr_b', display: 'Bob' },
    ]
    expect(changed([{ op: 'remove', path: 'members[display sw "a"]' }], members)).toEqual({
      add: [],
      remove: ['usr_a'],
    })
  })

  test('a member itself is not changed', () => {
    expect(() => changed([{ op: 'replace', path: 'members[value eq "x"]', value: { value: 'y' } }])).toThrow(
      refused('mutability'),
    )
    expect(() => changed([{ op: 'replace', path: 'members.value', value: 'y' }])).toThrow(refused('mutability'))
    expect(() => changed([{ op: 'add', path: 'members', value: [{ display: 'x' }] }])).toThrow(refused('invalidValue'))
  })
})
