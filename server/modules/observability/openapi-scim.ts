type Description = Record<string, unknown>

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const group = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const listResponse = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'
const id = '01890a5d-ac96-774b-bcce-b302099a8057'

const text = (description: string) => ({ type: 'string', description })
const whole = (description: string) => ({ type: 'integer', description })
/** SCIM resources have more attributes than the description names; `GET …/Schemas` lists all. */
const open = (description: string, required: string[], properties: Description) => ({
  type: 'object',
  description,
  required,
  properties,
  additionalProperties: true,
})
const schemas = { type: 'array', items: { type: 'string' }, description: 'URIs of the schemas of the resource' }

export const scimSchemas = {
  ScimUser: open('A user (RFC 7643, section 4.1)', ['schemas', 'userName'], {
    schemas,
    id: text('Id that the Hub assigned; ignored in requests'),
    externalId: text('Id that the directory assigned'),
    userName: text('Name in the directory, unique in the tenant'),
    displayName: text('Display name'),
    active: { type: 'boolean', description: '`false` ends sessions and tokens' },
    emails: {
      type: 'array',
      description: 'The primary address, else the first, is the address in the Hub',
      items: open('An e-mail address', ['value'], { value: text('The address'), primary: { type: 'boolean' } }),
    },
  }),
  ScimGroup: open('A group (RFC 7643, section 4.2)', ['schemas', 'displayName'], {
    schemas,
    id: text('Id that the Hub assigned; ignored in requests'),
    externalId: text('Id that the directory assigned'),
    displayName: text('Name, unique in the tenant'),
    members: {
      type: 'array',
      description: 'Members of the group',
      items: open('A member', ['value'], { value: text('Id of a user'), display: text('Name of the user') }),
    },
  }),
  ScimList: open('A page of resources (RFC 7644, section 3.4.2)', ['schemas', 'totalResults', 'Resources'], {
    schemas,
    totalResults: whole('Resources that match, on all pages'),
    startIndex: whole('Index of the first one, from 1'),
    itemsPerPage: whole('Resources of this page'),
    Resources: { type: 'array', items: { type: 'object', additionalProperties: true } },
  }),
  ScimPatch: open('Changes of a resource (RFC 7644, section 3.5.2)', ['schemas', 'Operations'], {
    schemas,
    Operations: {
      type: 'array',
      items: open('A change', ['op'], {
        op: text('`add`, `replace` or `remove`, in any case'),
        path: text('Path of an attribute; without it `value` is an object of attributes'),
        value: { description: 'The new value' },
      }),
    },
  }),
  ScimSearch: open('A query in a body (RFC 7644, section 3.4.3)', ['schemas'], {
    schemas,
    filter: text('Filter expression'),
    startIndex: whole('Index of the first resource, from 1'),
    count: whole('Resources of a page'),
  }),
  ScimError: open('An error (RFC 7644, section 3.12)', ['schemas', 'status'], {
    schemas,
    status: text('HTTP status'),
    scimType: text('Kind of a 400 or 409'),
    detail: text('Cause, and what to do'),
  }),
  ScimDiscovery: open('A description of the server (RFC 7643, sections 5 to 7)', ['schemas'], { schemas }),
}

const examples = {
  ScimUser: { schemas: [user], userName: 'kim@example.com', active: true },
  ScimGroup: { schemas: [group], displayName: 'Support', members: [{ value: id }] },
  ScimList: { schemas: [listResponse], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  ScimPatch: { schemas: [patchOp], Operations: [{ op: 'replace', path: 'active', value: false }] },
  ScimSearch: { schemas: [searchRequest], filter: 'userName eq "kim@example.com"' },
  ScimError: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404', detail: 'No such user.' },
  ScimDiscovery: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'] },
}

type Shape = keyof typeof examples

const content = (shape: Shape) => ({
  content: { 'application/scim+json': { schema: schemaRef(shape), example: examples[shape] } },
})

const parameter = (name: string, place: 'path' | 'query', description: string, type = 'string') => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type },
})
const tenant = parameter('tenant', 'path', 'Slug of the tenant')
const resourceId = parameter('id', 'path', 'Id of the resource')
const attributes = [
  parameter('attributes', 'query', 'Attributes to return, separated by commas'),
  parameter('excludedAttributes', 'query', 'Attributes to omit, separated by commas'),
]
const listing = [
  parameter('filter', 'query', 'Filter expression (RFC 7644, section 3.4.2.2)'),
  parameter('sortBy', 'query', 'Attribute to sort by'),
  parameter('sortOrder', 'query', '`ascending` or `descending`'),
  parameter('startIndex', 'query', 'Index of the first resource, from 1', 'integer'),
  parameter('count', 'query', 'Number of resources per page, at most 1,000', 'integer'),
  ...attributes,
]

const errors = {
  '400': 'The request is not valid',
  '401': 'The token is wrong',
  '404': 'The resource does not exist',
  '409': 'The name is already in use',
  '412': 'The resource has changed since `If-Match`',
  '429': 'Too many requests',
  '503': 'The Hub is unavailable',
}

function operation(
  operationId: string,
  summary: string,
  parts: { status?: number; answer?: Shape; body?: Shape; parameters?: unknown[] },
): Description {
  const { status = 200, answer, body, parameters = [] } = parts
  return {
    operationId,
    tags: ['SCIM'],
    summary,
    description: 'Takes the bearer token of the SCIM configuration, and no tenant header.',
    parameters: [tenant, ...parameters],
    ...(body && { requestBody: { required: true, ...content(body) } }),
    responses: {
      [status]: { description: summary, ...(answer && content(answer)) },
      ...Object.fromEntries(
        Object.entries(errors).map(([code, description]) => [code, { description, ...content('ScimError') }]),
      ),
    },
    security: [{ scim: [] }],
  }
}

function resourcePaths(name: 'User' | 'Group'): Description {
  const shape: Shape = `Scim${name}`
  const [base, noun] = [`/scim/v2/{tenant}/${name}s`, name.toLowerCase()]
  return {
    [base]: {
      get: operation(`listScim${name}s`, `List ${noun}s`, { answer: 'ScimList', parameters: listing }),
      post: operation(`createScim${name}`, `Create a ${noun}`, { status: 201, answer: shape, body: shape }),
    },
    [`${base}/.search`]: {
      post: operation(`searchScim${name}s`, `Search ${noun}s`, {
        answer: 'ScimList',
        body: 'ScimSearch',
      }),
    },
    [`${base}/{id}`]: {
      get: operation(`getScim${name}`, `Get a ${noun}`, { answer: shape, parameters: [resourceId, ...attributes] }),
      put: operation(`replaceScim${name}`, `Replace a ${noun}`, {
        answer: shape,
        body: shape,
        parameters: [resourceId],
      }),
      patch: operation(`patchScim${name}`, `Change a ${noun}`, {
        answer: shape,
        body: 'ScimPatch',
        parameters: [resourceId],
      }),
      delete: operation(`deleteScim${name}`, `Delete a ${noun}`, { status: 204, parameters: [resourceId] }),
    },
  }
}

/**
 * The paths of the SCIM server, which is not in the operations table: its requests, errors and descriptions are those
 * of RFC 7644.
 */
export const scimPaths: Record<string, Record<string, Description>> = {
  ...(resourcePaths('User') as Record<string, Record<string, Description>>),
  ...(resourcePaths('Group') as Record<string, Record<string, Description>>),
  '/scim/v2/{tenant}/ServiceProviderConfig': {
    get: operation('getScimServiceProviderConfig', 'Get the service provider configuration', {
      answer: 'ScimDiscovery',
    }),
  },
  '/scim/v2/{tenant}/ResourceTypes': {
    get: operation('listScimResourceTypes', 'List the resource types', { answer: 'ScimList' }),
  },
  '/scim/v2/{tenant}/ResourceTypes/{id}': {
    get: operation('getScimResourceType', 'Get a resource type', {
      answer: 'ScimDiscovery',
      parameters: [resourceId],
    }),
  },
  '/scim/v2/{tenant}/Schemas': {
    get: operation('listScimSchemas', 'List the schemas', { answer: 'ScimList' }),
  },
  '/scim/v2/{tenant}/Schemas/{id}': {
    get: operation('getScimSchema', 'Get a schema', {
      answer: 'ScimDiscovery',
      parameters: [resourceId],
    }),
  },
}
