import type { AttributeDefinition, ResourceDefinition, SchemaDefinition } from './schema-types.ts'

type Options = Partial<Omit<AttributeDefinition, 'name' | 'description'>>

/** Creates an attribute with the default characteristics of RFC 7643, section 2.2. */
function attribute(name: string, description: string, options: Options = {}): AttributeDefinition {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  }
}

function complex(name: string, description: string, subAttributes: readonly AttributeDefinition[], options?: Options) {
  return attribute(name, description, { type: 'complex', subAttributes, ...options })
}

/** Creates a multi-valued attribute with the usual sub-attributes (RFC 7643, section 2.4). */
function plural(name: string, description: string, types: readonly string[] = [], value: Options = {}) {
  return complex(
    name,
    description,
    [
      attribute('value', 'The value.', value),
      attribute('display', 'A name of the value, for people.'),
      attribute('type', 'What the value is for.', types.length > 0 ? { canonicalValues: types } : {}),
      attribute('primary', 'Whether this is the preferred value; one at most is.', { type: 'boolean' }),
    ],
    { multiValued: true },
  )
}

const externalId = attribute('externalId', 'The id that the directory gave to the resource.', { caseExact: true })

const userSchema: SchemaDefinition = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'User Account',
  attributes: [
    externalId,
    attribute('userName', 'The name that the directory knows the person by, unique in the tenant.', {
      required: true,
      uniqueness: 'server',
    }),
    complex('name', 'The parts of the name.', [
      attribute('formatted', 'The full name for display.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
      attribute('middleName', 'The middle names.'),
      attribute('honorificPrefix', 'The prefix of the name, such as Dr.'),
      attribute('honorificSuffix', 'The suffix of the name, such as III.'),
    ]),
    attribute('displayName', 'The name for display.'),
    attribute('nickName', 'The casual way to address the person.'),
    attribute('profileUrl', 'An address of the profile of the person.', {
      type: 'reference',
      referenceTypes: ['external'],
    }),
    attribute('title', 'The title, such as Vice President.'),
    attribute('userType', 'The relation between the company and the person, such as Employee.'),
    attribute('preferredLanguage', 'The preferred language, as in Accept-Language.'),
    attribute('locale', 'The location of the person, for currency and dates.'),
    attribute('timezone', 'The time zone, by its name in the IANA database.'),
    attribute('active', 'Whether the person may sign in. Setting it to false ends sessions and tokens at once.', {
      type: 'boolean',
    }),
    plural('emails', 'E-mail addresses. The primary one, else the first, is the address in the Hub.', [
      'work',
      'home',
      'other',
    ]),
    plural('phoneNumbers', 'Telephone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    plural('ims', 'Addresses of instant messaging.'),
    plural('photos', 'Addresses of photos.', ['photo', 'thumbnail'], {
      type: 'reference',
      referenceTypes: ['external'],
    }),
    complex(
      'addresses',
      'Postal addresses.',
      [
        attribute('formatted', 'The full address for display.'),
        attribute('streetAddress', 'Street and number.'),
        attribute('locality', 'The city.'),
        attribute('region', 'The state or region.'),
        attribute('postalCode', 'The postal code.'),
        attribute('country', 'The country.'),
        attribute('type', 'The type of the address.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'Whether this is the preferred address; one at most is.', { type: 'boolean' }),
      ],
      { multiValued: true },
    ),
    complex(
      'groups',
      'The groups that the person is in. They change at the groups.',
      [
        attribute('value', 'The id of the group.', { mutability: 'readOnly' }),
        attribute('$ref', 'The address of the group.', {
          type: 'reference',
          referenceTypes: ['Group'],
          mutability: 'readOnly',
        }),
        attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'Always direct.', { canonicalValues: ['direct'], mutability: 'readOnly' }),
      ],
      { multiValued: true, mutability: 'readOnly' },
    ),
    plural('entitlements', 'What the directory entitles the person to. It means nothing to the Hub.'),
    plural('roles', 'Roles in the directory. They are none in the Hub, where administrators give roles.'),
    plural('x509Certificates', 'Certificates.', [], { type: 'binary', caseExact: true }),
  ],
}

const enterpriseUserSchema: SchemaDefinition = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'Enterprise User',
  attributes: [
    attribute('employeeNumber', 'The number that the company gave to the person.'),
    attribute('costCenter', 'The cost center.'),
    attribute('organization', 'The organization.'),
    attribute('division', 'The division.'),
    attribute('department', 'The department.'),
    complex('manager', 'The manager of the person.', [
      attribute('value', 'The id of the manager, as the directory gives it.'),
      attribute('$ref', 'The address of the manager.', { type: 'reference', referenceTypes: ['User'] }),
      attribute('displayName', 'The name of the manager.'),
    ]),
  ],
}

const groupSchema: SchemaDefinition = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'Group',
  attributes: [
    externalId,
    attribute('displayName', 'The name of the group, unique in the tenant.', { required: true, uniqueness: 'server' }),
    complex(
      'members',
      'The people in the group.',
      [
        attribute('value', 'The id of a user.', { mutability: 'immutable' }),
        attribute('$ref', 'The address of the user.', {
          type: 'reference',
          referenceTypes: ['User'],
          mutability: 'immutable',
        }),
        attribute('display', 'The name of the user.', { mutability: 'readOnly' }),
        attribute('type', 'Always User.', { canonicalValues: ['User'], mutability: 'immutable' }),
      ],
      { multiValued: true },
    ),
  ],
}

const common: readonly AttributeDefinition[] = [
  attribute('schemas', 'The schemas of the resource.', {
    multiValued: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  attribute('id', 'The id that the Hub gave.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  complex(
    'meta',
    'About the resource.',
    [
      attribute('resourceType', 'The kind of resource.', { caseExact: true, mutability: 'readOnly' }),
      attribute('created', 'When it was made.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('lastModified', 'When it changed last.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('location', 'Its address.', { type: 'reference', referenceTypes: ['uri'], mutability: 'readOnly' }),
      attribute('version', 'Its entity tag.', { caseExact: true, mutability: 'readOnly' }),
    ],
    { mutability: 'readOnly' },
  ),
]

export const userResource: ResourceDefinition = {
  name: 'User',
  endpoint: '/Users',
  description: 'User Account',
  schema: userSchema,
  extensions: [enterpriseUserSchema],
  common,
}

export const groupResource: ResourceDefinition = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Group',
  schema: groupSchema,
  extensions: [],
  common,
}

export const resourceDefinitions: readonly ResourceDefinition[] = [userResource, groupResource]

export const messageSchemas = {
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
} as const
