import { isActiveSql } from './directory-users-store.ts'

/**
 * The attributes that filters and sorting can use (RFC 7643, sections 4 and 8.7.1), by their lower-case paths.
 * `attributes` is stored with the canonical spelling, so jsonb is queried by that. An attribute absent here has no
 * value.
 */

export type Attribute =
  /** `exact`: the comparison is case-sensitive. */
  | { kind: 'text'; sql: string; exact?: boolean; key?: string }
  | { kind: 'boolean' | 'time'; sql: string }
  | { kind: 'complex'; sql: string }
  | { kind: 'many'; source: ManySource }

/** The values of a multi-valued attribute: the rows of `from … where …`, and their sub-attributes. */
export interface ManySource {
  from: string
  /** The sub-attributes by name; `value` is used if only the attribute itself is named. */
  parts: ReadonlyMap<string, Attribute>
  /** SQL expression of the text to sort by. */
  sortSql: string
}

export type AttributeTable = ReadonlyMap<string, Attribute>

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** `key` is an SQL expression in the form of `nameKey`, for comparisons that an index serves. */
const text = (sql: string, options: { exact?: boolean; key?: string } = {}): Attribute => ({
  kind: 'text',
  sql,
  ...options,
})

function listOf(attribute: string, row: string, parts: readonly string[]): Attribute {
  const list = `${row}.attributes -> '${attribute}'`
  const partsSql = new Map<string, Attribute>(parts.map((part) => [part.toLowerCase(), text(`(v ->> '${part}')`)]))
  partsSql.set('primary', { kind: 'boolean', sql: `(v -> 'primary' = 'true'::jsonb)` })
  return {
    kind: 'many',
    source: {
      from: `jsonb_array_elements(case when jsonb_typeof(${list}) = 'array' then ${list} else '[]'::jsonb end) as v`,
      parts: partsSql,
      sortSql:
        `coalesce(jsonb_path_query_first(${list}, '$[*] ? (@.primary == true)') ->> 'value', ` +
        `${list} -> 0 ->> 'value')`,
    },
  }
}

function timesOf(row: string): [string, Attribute][] {
  return [
    ['meta.created', { kind: 'time', sql: `${row}.created_at` }],
    ['meta.lastmodified', { kind: 'time', sql: `${row}.updated_at` }],
  ]
}

const simple = [
  ...['displayName', 'nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'],
]
const nameParts = ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix']
const valueParts = ['value', 'display', 'type']
const addressParts = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type']
const enterpriseParts = ['employeeNumber', 'costCenter', 'organization', 'division', 'department']
const enterpriseKey = enterprise.toLowerCase()

/** The attributes of `hub.directory_users d`; $1 is the tenant. */
export const userAttributes: AttributeTable = new Map<string, Attribute>([
  ['id', text('d.user_id', { exact: true })],
  ['externalid', text('d.external_id', { exact: true })],
  ['username', text('d.user_name', { key: 'd.user_name_key' })],
  ['active', { kind: 'boolean', sql: isActiveSql }],
  ...timesOf('d'),
  ['meta.resourcetype', text(`'User'`, { exact: true })],
  ...simple.map((name): [string, Attribute] => [name.toLowerCase(), text(`(d.attributes ->> '${name}')`)]),
  ['name', { kind: 'complex', sql: `d.attributes -> 'name'` }],
  ...nameParts.map((part): [string, Attribute] => [
    `name.${part.toLowerCase()}`,
    text(`(d.attributes -> 'name' ->> '${part}')`),
  ]),
  ...['emails', 'phoneNumbers', 'ims', 'photos', 'entitlements', 'roles', 'x509Certificates'].map(
    (name): [string, Attribute] => [name.toLowerCase(), listOf(name, 'd', valueParts)],
  ),
  ['addresses', listOf('addresses', 'd', addressParts)],
  [enterpriseKey, { kind: 'complex', sql: `d.attributes -> '${enterprise}'` }],
  ...enterpriseParts.map((part): [string, Attribute] => [
    `${enterpriseKey}.${part.toLowerCase()}`,
    text(`(d.attributes -> '${enterprise}' ->> '${part}')`),
  ]),
  [`${enterpriseKey}.manager`, { kind: 'complex', sql: `d.attributes -> '${enterprise}' -> 'manager'` }],
  ...['value', 'displayName', '$ref'].map((part): [string, Attribute] => [
    `${enterpriseKey}.manager.${part.toLowerCase()}`,
    text(`(d.attributes -> '${enterprise}' -> 'manager' ->> '${part}')`),
  ]),
  [
    'groups',
    {
      kind: 'many',
      source: {
        from:
          'hub.directory_members m join hub.directory_groups mg on mg.tenant_id = $1 and mg.group_id = m.group_id ' +
          'where m.tenant_id = $1 and m.user_id = d.user_id',
        parts: new Map<string, Attribute>([
          ['value', text('m.group_id', { exact: true })],
          ['display', text('mg.display_name', { key: 'mg.display_name_key' })],
        ]),
        sortSql: 'null::text',
      },
    },
  ],
])

/** The attributes of `hub.directory_groups g`; $1 is the tenant. */
export const groupAttributes: AttributeTable = new Map<string, Attribute>([
  ['id', text('g.group_id', { exact: true })],
  ['externalid', text('g.external_id', { exact: true })],
  ['displayname', text('g.display_name', { key: 'g.display_name_key' })],
  ...timesOf('g'),
  ['meta.resourcetype', text(`'Group'`, { exact: true })],
  [
    'members',
    {
      kind: 'many',
      source: {
        from: 'hub.directory_members m where m.tenant_id = $1 and m.group_id = g.group_id',
        parts: new Map<string, Attribute>([
          ['value', text('m.user_id', { exact: true })],
          ['type', text(`'User'`)],
        ]),
        sortSql: 'null::text',
      },
    },
  ],
])

/** Resolves a path to an attribute. For a multi-valued attribute, returns the sub-attribute and its source. */
export function attributeAt(
  table: AttributeTable,
  path: readonly string[],
): { attribute: Attribute; inside?: ManySource } | undefined {
  const whole = table.get(path.join('.'))
  if (whole?.kind === 'many') {
    const value = whole.source.parts.get('value')
    return value ? { attribute: value, inside: whole.source } : { attribute: whole }
  }
  if (whole) return { attribute: whole }
  const parent = path.length > 1 ? table.get(path.slice(0, -1).join('.')) : undefined
  if (parent?.kind !== 'many') return undefined
  const part = parent.source.parts.get(path.at(-1)!)
  return part && { attribute: part, inside: parent.source }
}
