import { describe, expect, test } from 'vitest'
import { parseFilter } from '../../server/modules/scim/filter-parser.ts'
import { parsePatchPath } from '../../server/modules/scim/patch-path.ts'
import { groupResource, userResource } from '../../server/modules/scim/scim-schemas.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const filter = (text: string) => parseFilter(userResource, text)
const eq = (path: string[], value: unknown) => ({ kind: 'compare', path, operator: 'eq', value })

describe('filters of RFC 7644, section 3.4.2.2', () => {
  test.each<[string, unknown]>([
    ['userName eq "bjensen"', eq(['username'], 'bjensen')],
    ['USERNAME EQ "bjensen"', eq(['username'], 'bjensen')],
    [
      'name.familyName co "O\'Malley"',
      { kind: 'compare', path: ['name', 'familyname'], operator: 'co', value: "O'Malley" },
    ],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"',
      { kind: 'compare', path: ['username'], operator: 'sw', value: 'J' },
    ],
    ['title pr', { kind: 'present', path: ['title'] }],
    ['active eq true', eq(['active'], true)],
    ['active eq "False"', eq(['active'], false)],
    ['title eq null', eq(['title'], null)],
    ['emails co "@x.example"', { kind: 'compare', path: ['emails', 'value'], operator: 'co', value: '@x.example' }],
    [`${enterprise}:department eq "R&D"`, eq([enterprise.toLowerCase(), 'department'], 'R&D')],
    [`${enterprise}:manager eq "26"`, eq([enterprise.toLowerCase(), 'manager', 'value'], '26')],
    ['userName eq "a\\"b\\\\c\\u00e9"', eq(['username'], 'a"b\\cé')],
    [
      'meta.lastModified gt "2026-05-13T04:42:34Z"',
      { kind: 'compare', path: ['meta', 'lastmodified'], operator: 'gt', value: '2026-05-13T04:42:34Z' },
    ],
  ])('%s', (text, parsed) => {
    expect(filter(text)).toEqual(parsed)
  })

  test('and binds closer than or, brackets closest, not takes brackets', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((value) => eq(['username'], value))
    expect(filter('userName eq "a" or userName eq "b" and userName eq "c"')).toEqual({
      kind: 'or',
      terms: [a, { kind: 'and', terms: [b, c] }],
    })
    expect(filter('(userName eq "a" or userName eq "b") and not (userName eq "c")')).toEqual({
      kind: 'and',
      terms: [
        { kind: 'or', terms: [a, b] },
        { kind: 'not', term: c },
      ],
    })
  })

  test('values in brackets are asked about together, and Entra may go on after them', () => {
    const work = eq(['type'], 'work')
    const some = (inner: unknown) => ({ kind: 'some', path: ['emails'], filter: inner })
    const address = eq(['value'], 'a@x.example')
    expect(filter('emails[type eq "work" and value eq "a@x.example"]')).toEqual(
      some({ kind: 'and', terms: [work, address] }),
    )
    expect(filter('emails[type eq "work"].value eq "a@x.example"')).toEqual(
      some({ kind: 'and', terms: [work, address] }),
    )
    expect(filter('emails[not (type eq "work")] and userName pr')).toEqual({
      kind: 'and',
      terms: [some({ kind: 'not', term: work }), { kind: 'present', path: ['username'] }],
    })
    expect(parseFilter(groupResource, 'members eq "usr_1"')).toEqual(eq(['members', 'value'], 'usr_1'))
  })

  test.each([
    '',
    ' ',
    'userName',
    'userName eq',
    'userName eq bjensen',
    'eq "a"',
    'userName eq "a" and',
    'userName eq "a" userName pr',
    'and',
    '(userName pr',
    'userName pr)',
    '()',
    'not userName pr',
    'userName eq "a',
    'userName eq "\\x"',
    'userName eq "\\ud800"',
    'userName eq "\\u0000"',
    'userName is "a"',
    'userName eq 1',
    'active gt true',
    'active eq "maybe"',
    'active co "t"',
    'nonsense eq "a"',
    'name eq "a"',
    'name.nonsense eq "a"',
    'userName.x eq "a"',
    'emails.value.x eq "a"',
    'title gt null',
    'emails[type eq "work"',
    'emails[]',
    'emails[emails[type pr]]',
    'userName[value eq "a"]',
    'emails[userName pr]',
    'meta.created gt "yesterday"',
    'meta.created co "2026"',
    'urn:nobody:knows:userName eq "a"',
    'userName eq -',
    'password eq "x"',
    'userName eq "a" ; drop table hub.users',
    "userName eq 'a'",
    'userName eq 1e999',
  ])('refuses %j', (text) => {
    expect(() => filter(text)).toThrow(expect.objectContaining({ extensions: { scimType: 'invalidFilter' } }))
  })
})

describe('paths of PATCH', () => {
  const described = (text: string) => {
    const path = parsePatchPath(userResource, text)
    return path && [path.extension ?? '', path.attribute.name, path.sub?.name ?? '', path.filter ? 'filtered' : '']
  }
  test.each([
    ['userName', ['', 'userName', '', '']],
    ['NAME.GIVENNAME', ['', 'name', 'givenName', '']],
    ['emails[type eq "work"]', ['', 'emails', '', 'filtered']],
    ['emails[type eq "work"].value', ['', 'emails', 'value', 'filtered']],
    ['addresses[type eq "other"].Formatted', ['', 'addresses', 'formatted', 'filtered']],
    [`${enterprise}:department`, [enterprise, 'department', '', '']],
    [`${enterprise}:manager.displayName`, [enterprise, 'manager', 'displayName', '']],
    [`${userResource.schema.id}:name.givenName`, ['', 'name', 'givenName', '']],
    ['manager', [enterprise, 'manager', '', '']],
  ])('%s', (text, expected) => {
    expect(described(text)).toEqual(expected)
  })

  test('what no schema has is nothing', () => {
    expect(described('favouriteColour')).toBeUndefined()
    expect(described('urn:acme:1.0:User:colour')).toBeUndefined()
    expect(described('favouriteColours[type eq "work"].value')).toBeUndefined()
  })

  test.each([
    '[type eq "work"]',
    'emails[type eq "work"',
    'emails[type eq "work"]value',
    'emails[type eq "work"].value.more',
    'emails[type eq "work"].value eq "a"',
    'emails[type eq "work"].nonsense',
    'emails[nonsense eq "a"]',
    'name[value eq "a"]',
    'userName eq "a"',
    'user name',
    '/userName',
    '"userName"',
    '__proto__',
    '__proto__.polluted',
    'constructor.prototype',
    'emails.__proto__',
    `${enterprise}:__proto__`,
  ])('refuses %j', (text) => {
    expect(() => parsePatchPath(userResource, text)).toThrow(
      expect.objectContaining({ extensions: { scimType: 'invalidPath' } }),
    )
  })
})
